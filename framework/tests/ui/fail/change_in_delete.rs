use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_delete]
    async fn forget(&self, _user: Change<String>) {}
}

fn main() {}
