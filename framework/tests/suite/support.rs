//! Pages of changes, and a run through a projection's hooks.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use projectionist::extract::tx::Transaction;
use projectionist::page::{Outcome, Page, PageInfo};
use projectionist::{Document, Operation, Projection, ProjectionDef, RawChange, States};
use tokio_util::sync::CancellationToken;

/// What hooks say they did.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Log {
    pub(crate) fn add(&self, line: String) {
        self.0.lock().expect("no hook panics").push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no hook panics").clone()
    }
}

/// What came of a page.
pub(crate) struct Ran {
    pub(crate) page: Outcome,
    pub(crate) log: Vec<String>,
}

/// Runs `changes` through `P` without a transaction.
pub(crate) async fn run<P: Projection>(changes: &[RawChange]) -> Ran {
    run_in::<P>(None, changes).await
}

/// Runs `changes` through `P`.
pub(crate) async fn run_in<P: Projection>(
    tx: Option<&mut (dyn Transaction + 'static)>,
    changes: &[RawChange],
) -> Ran {
    let mut states = States::default();
    states.insert(Log::default());
    let projection = P::build(&states).expect("it can be built");
    let def: &'static ProjectionDef =
        const { &ProjectionDef::of::<P>(projectionist::Location { file: "", line: 0 }) };
    let cancellation = CancellationToken::new();
    let progress = AtomicUsize::new(0);
    let info = PageInfo {
        projection: def.spec.name,
        collection: def.spec.collection,
        range_id: "0",
        attempt: 1,
        cancellation: &cancellation,
        progress: &progress,
    };
    let page = Page::new(def.spec, def.hooks, changes, &states, tx, info);
    let page = Projection::apply_page(Some(&projection), page).await;
    let log = states.get::<Log>().expect("it was put there").lines();
    Ran { page, log }
}

pub(crate) fn upsert(id: &str, body: &str) -> RawChange {
    change(id, Operation::Upsert, Some(body), None)
}

pub(crate) fn create(id: &str, body: &str) -> RawChange {
    change(id, Operation::Create, Some(body), None)
}

pub(crate) fn replace(id: &str, body: &str, before: &str) -> RawChange {
    change(id, Operation::Replace, Some(body), Some(before))
}

pub(crate) fn delete(id: &str) -> RawChange {
    change(id, Operation::Delete, None, None)
}

fn change(id: &str, operation: Operation, body: Option<&str>, before: Option<&str>) -> RawChange {
    let document = |json: &str| Document::from_json(json.to_owned().into());
    RawChange {
        id: id.into(),
        partition_key: "[\"t1\"]".into(),
        operation,
        current: body.map(document),
        previous: before.map(document),
        etag: body.map(|_| format!("\"{id}\"").into()),
        sequence: Some(1),
        ordinal: 0,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        expired: false,
    }
}
