//! An owner that does not go on holds nobody up for long (P8, I3).

use super::*;

/// A page of an earlier owner that holds the checkpoint's row: its session is ended, and it cannot commit.
#[tokio::test]
async fn a_taker_ends_the_session_in_its_way() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let mut frozen = fixture.store.begin().await.unwrap();
    frozen
        .execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    frozen
        .execute("select 1 from projectionist_checkpoints for update", vec![])
        .await
        .unwrap();
    // Another process.
    let other = fixture.database.open().await;
    let taken = other.take(&fixture.checkpoint.lease, at()).await.unwrap();
    assert_eq!(taken.unwrap().epoch, fixture.checkpoint.epoch + 1);
    let error = frozen.commit(&fixture.advance()).await.unwrap_err();
    assert!(
        matches!(
            error,
            CommitError::Store(StoreError::Busy { .. }) | CommitError::Fenced(_)
        ),
        "{error:?}"
    );
    assert_eq!(fixture.rows().await, []);
}

/// Whoever only has read does not hold the row, and finds out at its commit.
#[tokio::test]
async fn whoever_lost_the_lease_cannot_commit() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let mut late = fixture.store.begin().await.unwrap();
    late.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    let other = fixture.database.open().await;
    other.take(&fixture.checkpoint.lease, at()).await.unwrap();
    let error = late.commit(&fixture.advance()).await.unwrap_err();
    assert!(matches!(error, CommitError::Fenced(_)), "{error:?}");
    assert_eq!(fixture.rows().await, []);
}

/// The server ends a transaction that idles, a statement that runs and an answer that is not read, each by a limit of the
/// session.
#[tokio::test]
async fn sessions_have_limits() {
    let Some(database) = Database::new().await else {
        return;
    };
    let options = OpenOptions {
        patience: Duration::from_millis(12_345),
        ..OpenOptions::default()
    };
    let store = PostgresStore::open(&database.url(), options).await.unwrap();
    for name in [
        "idle_in_transaction_session_timeout",
        "statement_timeout",
        "tcp_user_timeout",
    ] {
        let table = store.query(&format!("show {name}")).await.unwrap();
        let shown = format!("{:?}", table.rows);
        assert!(shown.contains("12345"), "{name}: {shown}");
    }
    let mut conn = database.connect().await;
    let names: Vec<String> = sqlx::query_scalar(
        "select distinct application_name from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].starts_with("projectionist "), "{names:?}");
}
