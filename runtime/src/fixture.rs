//! Two projections for unit tests, written by hand: the macros are tested elsewhere.

use projectionist::extract::state::States;
use projectionist::extract::tx::BoxFuture;
use projectionist::hook::{Hook, Hooks};
use projectionist::needs::{Mode, Needs};
use projectionist::page::{Outcome, Page};
use projectionist::projection::{Projection, Spec, Start};
use projectionist::registry::{Location, ProjectionDef};
use projectionist::verdict::BoxError;

const fn hook(name: &'static str) -> Hook {
    Hook {
        name,
        needs: Needs::NOTHING,
        states: &[],
        databases: &[],
        only: &[],
        takes_self: false,
    }
}

const NO_HOOKS: Hooks = Hooks {
    on_upsert: None,
    on_create: None,
    on_replace: None,
    on_delete: None,
    on_expire: None,
};

const fn spec(name: &'static str, collection: &'static str, start: Option<Start>) -> Spec {
    Spec {
        name,
        collection,
        only: &[],
        soft_delete: None,
        start,
        batch: None,
        ddl: None,
        table: None,
    }
}

macro_rules! projection {
    ($type:ident, $def:ident, $line:literal, $spec:expr, $hooks:expr) => {
        pub(crate) struct $type;

        impl Projection for $type {
            const SPEC: Spec = $spec;
            const HOOKS: Hooks = $hooks;
            const MODE: Mode = Self::HOOKS.mode(false);

            fn build(_: &States) -> Result<Self, BoxError> {
                Ok(Self)
            }

            fn apply_page<'a>(_: Option<&'a Self>, page: Page<'a>) -> BoxFuture<'a, Outcome> {
                Box::pin(async move { page.finish() })
            }
        }

        pub(crate) static $def: ProjectionDef = ProjectionDef::of::<$type>(Location {
            file: "src/fixture.rs",
            line: $line,
        });
    };
}

projection!(
    Billing,
    BILLING,
    10,
    spec("billing", "store", Some(Start::Beginning)),
    Hooks {
        on_upsert: Some(hook("charge")),
        ..NO_HOOKS
    }
);
projection!(
    Audit,
    AUDIT,
    20,
    spec("audit", "store", None),
    Hooks {
        on_create: Some(hook("log")),
        on_delete: Some(hook("log")),
        ..NO_HOOKS
    }
);
