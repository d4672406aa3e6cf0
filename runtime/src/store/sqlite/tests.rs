//! What is SQLite's own; what every store promises stands in the conformance suite.

mod breakage;
mod conforming;
mod files;

use std::path::Path;
use std::sync::atomic::Ordering;

use projectionist::extract::tx::TxErrorClass;
use projectionist::needs::Mode;
use projectionist::sql::Value;
use tempfile::TempDir;

use super::*;
use crate::position::{Bounds, ProjectionId};
use crate::store::{Advance, CommitError};

/// A store in a directory of its own, with the table `t(n)` and one checkpoint that is taken.
struct Fixture {
    store: SqliteStore,
    checkpoint: Checkpoint,
    directory: TempDir,
}

fn at() -> Timestamp {
    "2026-01-02T03:04:05.678901234Z".parse().unwrap()
}

async fn open(path: &Path) -> SqliteStore {
    let options = OpenOptions {
        create: true,
        ..OpenOptions::default()
    };
    SqliteStore::open(path, options).await.unwrap()
}

impl Fixture {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = open(&directory.path().join("projector.db")).await;
        store
            .define("the test", "create table if not exists t (n)")
            .await
            .unwrap();
        let made = store.create(&new_checkpoint()).await.unwrap();
        let checkpoint = store.take(&made.lease, at()).await.unwrap().unwrap();
        Self {
            store,
            checkpoint,
            directory,
        }
    }

    fn advance(&self) -> Advance {
        Advance {
            lease: self.checkpoint.lease.clone(),
            epoch: self.checkpoint.epoch,
            version: self.checkpoint.version,
            position: Position::new("next"),
            at: at(),
        }
    }

    /// Every value in `t`, as a writer that comes after whoever went before sees it.
    async fn rows(&self) -> Vec<Value> {
        let mut page = self.store.begin().await.unwrap();
        let rows = page
            .fetch("select n from t order by n", vec![], usize::MAX)
            .await
            .unwrap();
        page.rollback().await;
        rows.into_iter().flatten().collect()
    }

    async fn version(&self) -> u64 {
        self.store.checkpoints().await.unwrap()[0].version
    }

    /// A sound page, to show that the store works on.
    async fn sound_page(&self, n: i64) {
        let mut page = self.store.begin().await.unwrap();
        page.execute("insert into t values ($1)", vec![Value::Integer(n)])
            .await
            .unwrap();
        page.commit(&self.advance()).await.unwrap();
        assert_eq!(self.rows().await, [Value::Integer(n)]);
        assert_eq!(self.version().await, self.checkpoint.version + 1);
    }
}

fn new_checkpoint() -> NewCheckpoint {
    NewCheckpoint {
        projection: ProjectionId {
            tenant: String::new(),
            collection: "emulator/shop/orders".to_owned(),
            name: "totals".to_owned(),
            generation: 1,
        },
        rid: "rid".to_owned(),
        bounds: Bounds {
            min: String::new(),
            max: "FF".to_owned(),
        },
        mode: Mode::LatestVersion,
        start: "beginning".to_owned(),
        position: None,
        at: at(),
    }
}

#[tokio::test]
async fn a_lost_answer_to_commit_is_settled_by_the_row() {
    let fixture = Fixture::new().await;
    fixture.store.0.lose_answers.store(true, Ordering::SeqCst);
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    page.commit(&fixture.advance()).await.unwrap();
    assert_eq!(fixture.rows().await, [Value::Integer(1)]);
    assert_eq!(fixture.version().await, 1);
}

/// P19: the children are found, and another's are not taken for them.
#[tokio::test]
async fn a_lost_answer_to_a_split_is_settled_by_the_rows() {
    let fixture = Fixture::new().await;
    let Checkpoint { epoch, version, .. } = fixture.checkpoint;
    let half = |min: &str, max: &str| Bounds {
        min: min.to_owned(),
        max: max.to_owned(),
    };
    let split = Split {
        lease: fixture.checkpoint.lease.clone(),
        epoch,
        version,
        children: vec![half("", "80"), half("80", "FF")],
        at: at(),
    };
    fixture.store.0.lose_answers.store(true, Ordering::SeqCst);
    let children = fixture.store.split(&split).await.unwrap();
    assert_eq!(fixture.store.checkpoints().await.unwrap(), children);
    let again = fixture.store.split(&split).await;
    assert!(matches!(again, Err(SplitError::Fenced(_))), "{again:?}");
}

#[tokio::test]
async fn a_failed_commit_is_told_by_the_row() {
    let fixture = Fixture::new().await;
    let inner = &fixture.store.0;
    let settle = |advance: Advance| async move {
        let lost = sqlx::Error::WorkerCrashed;
        page::settle(inner, &advance, lost).await
    };
    let not_done = settle(fixture.advance()).await;
    assert!(
        matches!(not_done, Err(CommitError::Store(_))),
        "{not_done:?}"
    );
    fixture.sound_page(1).await;
    settle(fixture.advance()).await.unwrap();
    // Whoever took the lease since may have moved the version, too.
    let lease = &fixture.checkpoint.lease;
    fixture.store.take(lease, at()).await.unwrap();
    let taken = settle(fixture.advance()).await;
    assert!(matches!(taken, Err(CommitError::Fenced(_))), "{taken:?}");
    let mut conn = sqlx::ConnectOptions::connect(&options(&inner.path))
        .await
        .unwrap();
    let sql = "drop table projectionist_checkpoints";
    sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
    let unread = settle(fixture.advance()).await;
    assert!(matches!(unread, Err(CommitError::Unknown(_))), "{unread:?}");
}

#[tokio::test]
async fn changed_rows_are_counted_and_nothing_else() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    for (sql, changed) in [
        ("insert into t values (1), (2), (3)", 3),
        ("create index i on t (n)", 0),
        ("select n from t", 0),
        ("update t set n = 7 where n > 1", 2),
        ("update t set n = 8 where n = 100", 0),
        ("insert into t values (1) returning n", 1),
        ("delete from t", 4),
    ] {
        assert_eq!(page.execute(sql, vec![]).await.unwrap(), changed, "{sql}");
    }
}

#[tokio::test]
async fn a_refused_commit_is_an_error_and_nothing_is_stored() {
    let fixture = Fixture::new().await;
    fixture
        .store
        .define(
            "the test",
            "create table parent (id integer primary key);
             create table child (id references parent (id) deferrable initially deferred);",
        )
        .await
        .unwrap();
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    page.execute("insert into child values (7)", vec![])
        .await
        .unwrap();
    let error = page.commit(&fixture.advance()).await.unwrap_err();
    // I2: a constraint that is checked at COMMIT is the page's fault, not the store's moment.
    assert!(matches!(error, CommitError::Refused(_)), "{error:?}");
    assert_eq!(fixture.rows().await, []);
    fixture.sound_page(2).await;
}

#[tokio::test]
async fn values_come_back_by_the_class_of_each_cell() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    let decimal: rust_decimal::Decimal = "12.3400".parse().unwrap();
    let params = vec![
        Value::Null,
        Value::Bool(true),
        Value::Integer(i64::MIN),
        Value::Real(0.1),
        Value::Text("ü\u{0}'😀".to_owned()),
        Value::Blob(vec![0, 255]),
        Value::Decimal(decimal),
    ];
    page.execute(
        "insert into t values ($1), ($2), ($3), ($4), ($5), ($6), ($7)",
        params,
    )
    .await
    .unwrap();
    let rows = page
        .fetch("select n from t order by rowid", vec![], usize::MAX)
        .await
        .unwrap();
    let cells: Vec<_> = rows.into_iter().flatten().collect();
    let expected = [
        Value::Null,
        Value::Integer(1),
        Value::Integer(i64::MIN),
        Value::Real(0.1),
        Value::Text("ü\u{0}'😀".to_owned()),
        Value::Blob(vec![0, 255]),
        Value::Text("12.3400".to_owned()),
    ];
    assert_eq!(cells, expected);
    let two = page.fetch("select n from t", vec![], 2).await.unwrap();
    assert_eq!(two.len(), 2);
}

#[tokio::test]
async fn a_wrong_number_of_parameters_is_an_error_and_not_null() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    let error = page
        .execute("insert into t values ($1), ($2)", vec![Value::Integer(1)])
        .await
        .unwrap_err();
    assert_eq!(error.class(), TxErrorClass::Statement);
    assert!(error.to_string().contains("2 placeholders"), "{error}");
}

#[tokio::test]
async fn a_constraint_is_the_statements_fault_and_a_lock_the_moments() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("create unique index only on t (n)", vec![])
        .await
        .unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    let error = page
        .execute("insert into t values (1)", vec![])
        .await
        .unwrap_err();
    assert_eq!(error.class(), TxErrorClass::Unique);
    let error = page.execute("insert into nowhere values (1)", vec![]).await;
    assert_eq!(error.unwrap_err().class(), TxErrorClass::Statement);

    // Another process that holds the write lock, played by a second connection that does not wait.
    let path = fixture.directory.path().join("projector.db");
    let impatient = options(&path).busy_timeout(std::time::Duration::ZERO);
    let mut other = sqlx::ConnectOptions::connect(&impatient).await.unwrap();
    let error = sqlx::raw_sql("begin immediate")
        .execute(&mut other)
        .await
        .unwrap_err();
    assert!(fixture.store.is_transient(&error), "{error}");
    assert!(matches!(of_store(&path, error), StoreError::Busy { .. }));
}

#[tokio::test]
async fn native_hooks_may_nest_transactions_of_sqlx() {
    use sqlx::Connection as _;

    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    let conn: &mut SqliteConnection = page.native().downcast_mut().unwrap();
    let mut inner = conn.begin().await.unwrap();
    sqlx::query("insert into t values (1)")
        .execute(&mut *inner)
        .await
        .unwrap();
    inner.commit().await.unwrap();
    let mut inner = conn.begin().await.unwrap();
    sqlx::query("insert into t values (2)")
        .execute(&mut *inner)
        .await
        .unwrap();
    drop(inner);
    page.commit(&fixture.advance()).await.unwrap();
    assert_eq!(fixture.rows().await, [Value::Integer(1)]);
}

#[tokio::test]
async fn queries_have_columns_and_cannot_write() {
    let fixture = Fixture::new().await;
    fixture.sound_page(5).await;
    let table = fixture
        .store
        .query("select n as number, 'x' as x from t")
        .await
        .unwrap();
    assert_eq!(table.columns, ["number", "x"]);
    assert_eq!(
        table.rows,
        [[Value::Integer(5), Value::Text("x".to_owned())]]
    );
    let empty = fixture
        .store
        .query("select n from t where false")
        .await
        .unwrap();
    assert_eq!((empty.columns.len(), empty.rows.len()), (1, 0));
    let error = fixture.store.query("delete from t").await.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert_eq!(fixture.rows().await, [Value::Integer(5)]);
}
