use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_create]
    async fn keep(&self, _before: Previous<String>) {}
}

fn main() {}
