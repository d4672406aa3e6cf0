use projectionist::prelude::*;

#[projection(collection = "", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
