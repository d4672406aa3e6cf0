use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", mode = latest_version)]
pub struct Billing;

impl Billing {
    #[on_delete]
    async fn keep(&self, _id: DocumentId) {}
}

fn main() {}
