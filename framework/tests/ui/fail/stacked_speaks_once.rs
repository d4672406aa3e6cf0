use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_create]
    #[on_replace]
    #[on_delete]
    fn keep(&self, _id: DocumentId) {}
}

fn main() {}
