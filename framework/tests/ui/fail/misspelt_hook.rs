use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_deleted]
    async fn forget(&self, _id: DocumentId) {}

    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
