use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_create]
    #[on_delete]
    async fn log(&self, _user: Change<String>) {}
}

fn main() {}
