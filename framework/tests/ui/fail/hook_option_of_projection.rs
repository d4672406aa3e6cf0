use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_upsert(batch = 10)]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
