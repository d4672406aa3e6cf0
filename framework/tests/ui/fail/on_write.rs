use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_write]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
