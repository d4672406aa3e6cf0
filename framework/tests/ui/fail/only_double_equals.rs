use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", only(type == "a"))]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
