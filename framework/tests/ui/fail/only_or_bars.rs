use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", only(type = "a" || type == "b" || type = "c"))]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
