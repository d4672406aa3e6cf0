use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", only(size > 3))]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
