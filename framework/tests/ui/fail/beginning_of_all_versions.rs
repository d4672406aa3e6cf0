use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", start = beginning)]
pub struct Billing;

impl Billing {
    #[on_delete]
    async fn forget(&self, _id: DocumentId) {}
}

fn main() {}
