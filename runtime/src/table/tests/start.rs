//! What a start does about tables, and about documents that are there already.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use projectionist::change::{Document, RawChange};
use projectionist::extract::state::States;
use projectionist::prelude::*;
use projectionist::registry::Location;

use super::Rig;
use crate::clock::ManualClock;
use crate::config::Origin;
use crate::coordination::Instance;
use crate::coordination::memory::MemoryCoordination;
use crate::engine::{Engine, Limits, Prepared, SchemaPolicy, Setup};
use crate::feed::script::ScriptFeed;
use crate::problem::{Problem, codes};
use crate::store::Store;
use crate::store::memory::MemoryStore;

#[projection(
    collection = "users",
    name = "mirror",
    table = "mirror",
    register = false
)]
#[on_delete(remove)]
struct Mirror {
    #[column(key)]
    id: String,
}

static MIRROR: ProjectionDef = ProjectionDef::of::<Mirror>(Location {
    file: "m.rs",
    line: 7,
});

struct Start {
    feed: Arc<ScriptFeed>,
    store: Arc<dyn Store>,
}

impl Start {
    async fn prepare(&self, schema: SchemaPolicy, origin: &str) -> Result<(), Problem> {
        let ready = Engine::prepare(self.setup(schema, origin)).await;
        ready.map(drop).map_err(|mut problems| problems.0.remove(0))
    }

    fn setup(&self, schema: SchemaPolicy, origin: &str) -> Setup {
        Setup {
            schema,
            projections: vec![Prepared {
                def: &MIRROR,
                start: MIRROR.start(),
                start_origin: origin.to_owned(),
                batch: 3,
                feed: Arc::clone(&self.feed) as _,
            }],
            states: States::default(),
            store: Arc::clone(&self.store),
            coordination: Arc::new(MemoryCoordination::new()),
            instance: Instance {
                name: "test".to_owned(),
                incarnation: "test".to_owned(),
                pid: 0,
                started_at: Timestamp::UNIX_EPOCH,
            },
            clock: Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH)),
            seed: 1,
            limits: Limits::default(),
        }
    }

    fn write(&self) {
        self.feed.push([RawChange {
            id: "a".into(),
            partition_key: "[\"a\"]".into(),
            operation: Operation::Create,
            current: Some(Document::from_json("{\"id\":\"a\"}".into())),
            previous: None,
            etag: None,
            sequence: Some(1),
            ordinal: 0,
            timestamp: Timestamp::UNIX_EPOCH,
            expired: false,
        }]);
    }
}

fn start(store: Arc<dyn Store>) -> Start {
    Start {
        feed: Arc::new(ScriptFeed::new("users", Some(Duration::from_hours(1)))),
        store,
    }
}

#[tokio::test]
async fn documents_that_are_there_already_are_somebodys_decision() {
    let default = Origin::Default.to_string();
    let rig = Rig::new().await;
    let start = start(Arc::new(rig.store.clone()));
    start.write();
    let refused = start.prepare(SchemaPolicy::Apply, &default).await;
    let problem = refused.unwrap_err();
    assert_eq!(problem.code, codes::START_NOT_POSSIBLE);
    assert_eq!(
        problem.message,
        "projection `mirror` mirrors collection `users`, which holds documents already, and `#[on_delete(…)]` on its rows needs the all-versions feed, which shows only what is written from now on (m.rs:7)"
    );
    assert!(problem.help.contains("`start = now`"), "{}", problem.help);
    // A check says so before.
    let setup = start.setup(SchemaPolicy::Apply, &default);
    let problems = Engine::check(&setup, true).await.unwrap_err();
    assert_eq!(problems.0[0].code, codes::START_NOT_POSSIBLE);
    start
        .prepare(SchemaPolicy::Apply, "its attribute")
        .await
        .unwrap();
    // Once begun it goes on, whatever was written since.
    start.prepare(SchemaPolicy::Apply, &default).await.unwrap();
}

#[tokio::test]
async fn an_empty_collection_is_mirrored_from_now_on() {
    let default = Origin::Default.to_string();
    let rig = Rig::new().await;
    let start = start(Arc::new(rig.store.clone()));
    start.prepare(SchemaPolicy::Apply, &default).await.unwrap();
    start.write();
    start.prepare(SchemaPolicy::Apply, &default).await.unwrap();
}

#[tokio::test]
async fn the_policy_says_what_is_done_about_tables() {
    let rig = Rig::new().await;
    let start = start(Arc::new(rig.store.clone()));
    let refused = start.prepare(SchemaPolicy::Check, "the test").await;
    let problem = refused.unwrap_err();
    assert_eq!(problem.code, codes::TABLE_MISMATCH);
    assert_eq!(
        problem.message,
        "the tables of projection `mirror` are not as declared: make table `mirror` (m.rs:7)"
    );
    start.prepare(SchemaPolicy::Off, "the test").await.unwrap();
    assert!(rig.columns("mirror").await.is_empty());
    start
        .prepare(SchemaPolicy::Apply, "the test")
        .await
        .unwrap();
    assert_eq!(rig.columns("mirror").await.len(), 3);
    start
        .prepare(SchemaPolicy::Check, "the test")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_store_without_sql_has_no_rows() {
    let start = start(Arc::new(MemoryStore::new()));
    let refused = start.prepare(SchemaPolicy::Apply, "the test").await;
    assert_eq!(refused.unwrap_err().code, codes::WRONG_DATABASE);
}
