use projectionist::prelude::*;

#[projection(collection = "users", name = "Billing v2")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
