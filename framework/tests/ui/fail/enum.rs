use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub enum Billing {
    Only,
}

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
