use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", soft_delete(deleted))]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}

    #[on_remove(only(plan = "pro"))]
    async fn forget(&self, _id: DocumentId) {}
}

fn main() {}
