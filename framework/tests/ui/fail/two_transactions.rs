use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _one: Tx<'_>, _two: Tx<'_, Sqlite>) {}
}

fn main() {}
