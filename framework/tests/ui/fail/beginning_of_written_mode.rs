use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", mode = all_versions_and_deletes, start = beginning)]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
