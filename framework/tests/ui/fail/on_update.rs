use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_update]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
