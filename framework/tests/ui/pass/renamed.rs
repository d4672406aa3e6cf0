//! Under another name, strictly linted, in a private module.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub)]

extern crate projectionist as renamed;

/// Hides the real name: a path to it would not compile.
#[allow(dead_code)]
mod projectionist {}

mod inner {
    use crate::renamed::{Change, on_upsert, projection};

    #[projection(collection = "users", name = "renamed", crate = crate::renamed)]
    struct Billing;

    impl Billing {
        #[on_upsert(crate = crate::renamed)]
        async fn keep(user: Change<String>) {
            drop(user);
        }
    }
}

fn main() {
    let registry = renamed::Registry::collect().expect("it is registered");
    assert_eq!(registry.iter().next().map(|def| def.spec.name), Some("renamed"));
}
