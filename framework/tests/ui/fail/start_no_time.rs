use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", start = "2026-13-01T00:00:00Z")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
