//! Hooks that are configured away, above and below their attribute: the mode follows.
#![deny(warnings)]

use projectionist::prelude::*;

#[projection(collection = "users", name = "configured", start = beginning, register = false)]
pub struct Billing;

impl Billing {
    #[on_upsert]
    #[cfg(all())]
    async fn keep(&self, _user: Change<String>) {}

    #[cfg(any())]
    #[on_delete]
    async fn forget(&self, _id: DocumentId) {}

    #[on_create]
    #[cfg(any())]
    async fn welcome(&self, _id: DocumentId) {}
}

const _: () = assert!(matches!(Billing::MODE, Mode::LatestVersion));

fn main() {
    assert_eq!(Billing::HOOKS.iter().count(), 1);
}
