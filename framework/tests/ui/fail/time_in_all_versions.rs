use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", start = "2026-01-01T00:00:00Z")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _before: Previous<String>) {}
}

fn main() {}
