use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_upsert(only(type != "a"))]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
