use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_change]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
