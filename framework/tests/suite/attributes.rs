//! The attributes, as a user meets them: modes, dispatch by declared hooks, arguments.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use projectionist::change::{Document, RawChange};
use projectionist::page::{Outcome, Page, PageInfo};
use projectionist::prelude::*;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// What hooks write down.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().expect("no hook panics").push(line);
    }
}

#[projection(collection = "things", name = "stacked", register = false)]
struct Stacked;

impl Stacked {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn log(
        &self,
        operation: Operation,
        before: Option<Previous<Value>>,
        now: Option<Change<Value>>,
        id: DocumentId,
        log: State<Log>,
    ) {
        let (before, now) = (before.is_some(), now.is_some());
        log.add(format!("{operation} {id} {before} {now}"));
    }
}

#[projection(
    collection = "things",
    name = "soft",
    only(kind in ("a", "b")),
    soft_delete(deletedAt),
    start = beginning,
    batch = 7,
    register = false
)]
struct Soft;

impl Soft {
    #[on_upsert(only(size = 1))]
    async fn keep(thing: Change<Value>, log: State<Log>) -> Result<Verdict, String> {
        log.add(format!("keep {}", thing["id"]));
        Ok(Verdict::Skip)
    }

    #[on_delete]
    async fn drop(thing: Deleted<Value>, at: Ctx<'_>, log: State<Log>) -> anyhow::Result<()> {
        log.add(format!("drop {} {:?}", thing.is_some(), at.delete_kind()));
        Ok(())
    }
}

#[projection(collection = "things", name = "generic", register = false, init = Self::new)]
struct Generic<T: Send + Sync + 'static> {
    made: Option<T>,
}

impl<T: Send + Sync + 'static> Generic<T> {
    fn new(states: &States) -> Result<Self, String> {
        states.get::<Log>().ok_or("no log")?;
        Ok(Self { made: None })
    }

    #[on_upsert]
    async fn keep(&self, now: Change<Value>, before: Previous<Value>, log: State<Log>) {
        log.add(format!(
            "{} {} {}",
            now["id"],
            before.is_none(),
            self.made.is_none()
        ));
    }
}

const _: () = assert!(matches!(Stacked::MODE, Mode::AllVersionsAndDeletes));
const _: () = assert!(matches!(Soft::MODE, Mode::LatestVersion));
const _: () = assert!(matches!(Generic::<u8>::MODE, Mode::AllVersionsAndDeletes));

fn change(operation: Operation, current: Option<&'static str>) -> RawChange {
    RawChange {
        id: "x".into(),
        partition_key: "[\"p\"]".into(),
        operation,
        current: current.map(|json| Document::from_json(json.into())),
        previous: None,
        etag: None,
        sequence: Some(1),
        ordinal: 0,
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        expired: false,
    }
}

async fn apply<P: Projection>(changes: &[RawChange]) -> (Outcome, Vec<String>) {
    let mut states = States::default();
    states.insert(Log::default());
    let projection = P::build(&states).expect("it can be built");
    let (cancellation, progress) = (CancellationToken::new(), AtomicUsize::new(0));
    let info = PageInfo {
        projection: P::SPEC.name,
        collection: "c",
        range_id: "0",
        attempt: 1,
        cancellation: &cancellation,
        progress: &progress,
    };
    let page = Page::new(&P::SPEC, &P::HOOKS, changes, &states, None, info);
    let outcome = Projection::apply_page(Some(&projection), page).await;
    let log = states.get::<Log>().expect("it was put there");
    let log = std::mem::take(&mut *log.0.lock().expect("no hook panics"));
    (outcome, log)
}

#[tokio::test]
async fn stacked_attributes_register_one_method_for_each_kind() {
    let (outcome, log) = apply::<Stacked>(&[
        change(Operation::Create, Some("{}")),
        change(Operation::Replace, Some("{}")),
        change(Operation::Delete, None),
    ])
    .await;
    assert_eq!(outcome.applied, 3);
    assert_eq!(
        log,
        [
            "create x false true",
            "replace x false true",
            "delete x false false"
        ]
    );
}

#[tokio::test]
async fn filters_and_marks_come_before_decoding() {
    let (outcome, log) = apply::<Soft>(&[
        change(Operation::Upsert, Some(r#"{"id":1,"kind":"a","size":1}"#)),
        change(Operation::Upsert, Some(r#"{"id":2,"kind":"a","size":2}"#)),
        change(Operation::Upsert, Some(r#"{"id":3,"kind":"c","size":1}"#)),
        change(
            Operation::Upsert,
            Some(r#"{"id":4,"kind":"b","size":2,"deletedAt":"today"}"#),
        ),
        change(
            Operation::Upsert,
            Some(r#"{"id":5,"kind":"b","size":1,"deletedAt":null}"#),
        ),
    ])
    .await;
    assert_eq!((outcome.applied, outcome.unwanted), (3, 2));
    assert_eq!(log, ["keep 1", "drop true Some(Soft)", "keep 5"]);
    assert_eq!(Soft::SPEC.batch, Some(7));
}

#[tokio::test]
async fn generic_projections_are_registered_by_hand() {
    let (outcome, log) = apply::<Generic<u8>>(&[
        change(Operation::Create, Some(r#"{"id":1}"#)),
        change(Operation::Create, Some("[")),
    ])
    .await;
    assert_eq!(outcome.applied, 1);
    assert_eq!(outcome.undecodable.len(), 1);
    assert_eq!(log, ["1 true true"]);
}
