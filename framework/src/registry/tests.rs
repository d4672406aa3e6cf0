//! The registry says all that is wrong at once, and where.

use super::*;
use crate::prelude::*;

#[projection(collection = "users", name = "billing", register = false)]
struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(_: State<String>) {}
}

#[projection(collection = "users", name = "audit", register = false)]
struct Audit;

impl Audit {
    #[on_delete]
    async fn log(_: Option<State<u64>>, _: DocumentId) {}
}

const fn def<P: Projection>(line: u32) -> ProjectionDef {
    ProjectionDef::of::<P>(Location {
        file: "src/lib.rs",
        line,
    })
}

static BILLING: ProjectionDef = def::<Billing>(10);
static BILLING_AGAIN: ProjectionDef = def::<Billing>(7);
static AUDIT: ProjectionDef = def::<Audit>(20);
static AUDIT_AGAIN: ProjectionDef = def::<Audit>(30);

#[test]
fn projections_are_sorted_by_name() {
    let registry = Registry::from_defs([&BILLING, &AUDIT]).unwrap();
    let names: Vec<_> = registry.iter().map(|def| def.spec.name).collect();
    assert_eq!(names, ["audit", "billing"]);
}

#[test]
fn an_empty_registry_is_an_error() {
    let errors = Registry::from_defs([]).unwrap_err();
    assert_eq!(errors, [RegistryError::Empty]);
    // Nothing in these tests registers itself.
    assert_eq!(Registry::collect().unwrap_err(), [RegistryError::Empty]);
}

#[test]
fn all_duplicates_show_at_once_with_their_places() {
    let errors = Registry::from_defs([&BILLING, &AUDIT, &AUDIT_AGAIN, &BILLING_AGAIN]).unwrap_err();
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "projection `audit` is declared 2 times: src/lib.rs:20, src/lib.rs:30",
            "projection `billing` is declared 2 times: src/lib.rs:7, src/lib.rs:10",
        ]
    );
}

#[test]
fn a_definition_lists_what_its_hooks_look_up() {
    let states = |def: &ProjectionDef| -> Vec<_> {
        def.states().map(|(hook, key)| (hook, key.name())).collect()
    };
    assert_eq!(states(&BILLING), [("keep", "alloc::string::String")]);
    assert_eq!(states(&AUDIT), [("log", "u64")]);
    assert_eq!(AUDIT.mode, Mode::AllVersionsAndDeletes);
    let hooks: Vec<_> = AUDIT.hook_names().collect();
    assert_eq!(hooks, [(Kind::Delete, "log")]);
}
