use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", only("my-kind".no in (1, -2) | null, plan = "pro"))]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
