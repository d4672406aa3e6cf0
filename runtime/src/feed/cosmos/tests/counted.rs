//! A projection that counts what it sees, in SQLite, over the feed: for tests of the whole projector.

use projectionist::extract::state::States;
use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist::registry::{Location, ProjectionDef};
use tempfile::TempDir;

use super::*;
use crate::coordination::Instance;
use crate::coordination::memory::MemoryCoordination;
use crate::engine::{Limits, Prepared, SchemaPolicy, Setup};
use crate::store::Store;
use crate::store::sqlite::{OpenOptions, SqliteStore};

#[projection(
    collection = "users",
    name = "counted",
    register = false,
    ddl(sqlite = "create table if not exists counted (operation text not null, id text not null)")
)]
struct Counted;

impl Counted {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn count(operation: Operation, id: DocumentId, mut tx: Tx<'_>) -> Result<(), TxError> {
        let row = (operation.as_str(), id.as_str());
        tx.execute("insert into counted (operation, id) values ($1, $2)", row)
            .await?;
        Ok(())
    }
}

static COUNTED: ProjectionDef = ProjectionDef::of::<Counted>(Location { file: "", line: 0 });

/// A new store in this folder.
pub(super) async fn store(dir: &TempDir) -> Arc<dyn Store> {
    let options = OpenOptions {
        read_only: false,
        create: true,
    };
    let store = SqliteStore::open(dir.path().join("projector.db"), options)
        .await
        .unwrap();
    Arc::new(store)
}

/// The projector that counts, from now on, in pages of `batch`.
pub(super) fn setup(feed: CosmosFeed, store: &Arc<dyn Store>, batch: u32) -> Setup {
    Setup {
        schema: SchemaPolicy::Apply,
        projections: vec![Prepared {
            def: &COUNTED,
            start: Start::Now,
            start_origin: "the test".to_owned(),
            batch,
            feed: Arc::new(feed),
        }],
        states: States::default(),
        store: Arc::clone(store),
        coordination: Arc::new(MemoryCoordination::new()),
        instance: Instance {
            name: "test".to_owned(),
            incarnation: "1".to_owned(),
            pid: 1,
            started_at: SystemClock.now(),
        },
        clock: Arc::new(SystemClock),
        seed: 1,
        limits: Limits {
            poll: Duration::from_millis(5),
            backoff_first: Duration::from_millis(2),
            backoff_max: Duration::from_millis(20),
            ..Limits::default()
        },
    }
}

/// The one number that a query answers.
pub(super) async fn number(store: &Arc<dyn Store>, sql: &str) -> i64 {
    let table = store.query(sql).await.unwrap();
    match table.rows[0][0] {
        projectionist::sql::Value::Integer(number) => number,
        ref other => panic!("{other:?}"),
    }
}
