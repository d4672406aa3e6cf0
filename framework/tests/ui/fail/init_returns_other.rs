use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", init = Billing::new)]
pub struct Billing;

impl Billing {
    fn new(_: &States) -> u8 {
        7
    }

    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
