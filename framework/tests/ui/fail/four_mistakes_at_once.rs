use projectionist::prelude::*;

#[projection(colection = "users", name = "Billing", mode = latest, batch = 0)]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
