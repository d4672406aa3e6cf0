//! The prelude's names for what is no hook give way to a user's own.

use projectionist::prelude::*;

mod triggers {
    pub use projectionist::on_upsert as on_update;
}
use triggers::on_update;

macro_rules! on_change {
    () => {
        true
    };
}

fn on_insert() -> bool {
    on_change!()
}

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_update]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {
    assert!(on_insert());
    assert!(Billing::HOOKS.on_upsert.is_some());
}
