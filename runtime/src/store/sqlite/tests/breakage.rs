//! Hooks that end, hide or undo the page's transaction: nothing of the page is stored (P6).

use super::*;

/// Statements run one after another, each whether or not the one before failed, as a hook that swallows its errors would.
const TABLE: &[(&str, &[&str])] = &[
    ("commit", &["commit"]),
    (
        "commit, and on without a transaction",
        &["commit", "insert into t values (2)"],
    ),
    (
        "commit and begin",
        &["commit", "begin", "insert into t values (2)"],
    ),
    ("end", &["end transaction"]),
    ("rollback", &["rollback"]),
    (
        "rollback, and on without a transaction",
        &["rollback", "insert into t values (2)"],
    ),
    (
        "rollback and begin",
        &["rollback", "begin", "insert into t values (2)"],
    ),
    (
        "rollback and begin in one string",
        &["rollback; begin immediate; insert into t values (2)"],
    ),
    (
        "rollback, begin, and a savepoint of our name",
        &[
            "rollback",
            "begin",
            "savepoint projectionist_page",
            "insert into t values (2)",
        ],
    ),
    (
        "rollback and commit of another",
        &["rollback", "begin", "insert into t values (2)", "commit"],
    ),
    ("release of our savepoint", &["release projectionist_page"]),
    (
        "release of our savepoint, and another of its name",
        &[
            "release projectionist_page",
            "commit",
            "begin",
            "savepoint projectionist_page",
        ],
    ),
    (
        "rollback to our savepoint",
        &["rollback to projectionist_page", "insert into t values (2)"],
    ),
    (
        "a conflict that rolls back",
        &[
            "create unique index only on t (n)",
            "insert or rollback into t values (1)",
            "insert into t values (2)",
        ],
    ),
    (
        "another file attached",
        &["attach ':memory:' as other", "create table other.x (n)"],
    ),
    ("our mark dropped", &["drop table temp.projectionist_page"]),
];

#[tokio::test]
async fn no_portable_hook_can_break_the_transaction_unseen() {
    for (name, statements) in TABLE {
        let fixture = Fixture::new().await;
        let mut page = fixture.store.begin().await.unwrap();
        page.execute("insert into t values (1)", vec![])
            .await
            .unwrap();
        for statement in *statements {
            let _ = page.execute(statement, vec![]).await;
        }
        let error = page.commit(&fixture.advance()).await.unwrap_err();
        assert!(matches!(error, CommitError::Broken), "{name}: {error:?}");
        assert_eq!(fixture.rows().await, [], "{name}");
        assert_eq!(fixture.version().await, 0, "{name}");
        fixture.sound_page(9).await;
    }
}

#[tokio::test]
async fn no_native_hook_can_break_the_transaction_unseen() {
    for (name, statements) in TABLE {
        let fixture = Fixture::new().await;
        let mut page = fixture.store.begin().await.unwrap();
        let conn: &mut SqliteConnection = page.native().downcast_mut().unwrap();
        sqlx::query("insert into t values (1)")
            .execute(&mut *conn)
            .await
            .unwrap();
        for statement in *statements {
            let _ = sqlx::raw_sql(AssertSqlSafe(*statement))
                .execute(&mut *conn)
                .await;
        }
        let error = page.commit(&fixture.advance()).await.unwrap_err();
        assert!(matches!(error, CommitError::Broken), "{name}: {error:?}");
        assert_eq!(fixture.rows().await, [], "{name}");
        assert_eq!(fixture.version().await, 0, "{name}");
        fixture.sound_page(9).await;
    }
}

#[tokio::test]
async fn a_commit_is_refused_where_it_stands() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    let error = page.execute("commit", vec![]).await.unwrap_err();
    assert_eq!(error.class(), TxErrorClass::Statement);
    assert!(error.to_string().contains("COMMIT"), "{error}");
    let error = page
        .execute("insert into t values (2)", vec![])
        .await
        .unwrap_err();
    assert!(error.to_string().contains("comes after its end"), "{error}");
    page.rollback().await;
    assert_eq!(fixture.rows().await, []);
}

#[tokio::test]
async fn sqlx_itself_cannot_commit_the_page() {
    use sqlx_core::transaction::TransactionManager as _;

    type Manager = sqlx::sqlite::SqliteTransactionManager;

    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    let conn: &mut SqliteConnection = page.native().downcast_mut().unwrap();
    sqlx::query("insert into t values (1)")
        .execute(&mut *conn)
        .await
        .unwrap();
    Manager::commit(&mut *conn).await.unwrap_err();
    let _ = Manager::rollback(&mut *conn).await;
    Manager::begin(&mut *conn, None).await.unwrap();
    sqlx::query("insert into t values (2)")
        .execute(&mut *conn)
        .await
        .unwrap();
    let error = page.commit(&fixture.advance()).await.unwrap_err();
    assert!(matches!(error, CommitError::Broken), "{error:?}");
    assert_eq!(fixture.rows().await, []);
    fixture.sound_page(9).await;
}

#[tokio::test]
async fn a_connection_made_unable_to_write_is_replaced() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    page.execute("pragma query_only = on", vec![])
        .await
        .unwrap();
    page.commit(&fixture.advance()).await.unwrap_err();
    assert_eq!(fixture.rows().await, []);
    fixture.sound_page(9).await;
}

#[tokio::test]
async fn ddl_runs_whole_or_not_at_all() {
    let fixture = Fixture::new().await;
    for ddl in [
        "create table made (n); create table made (n)",
        "create table made (n); commit; create table more (n)",
        "create table made (n); rollback; begin; create table more (n)",
        "create table made (n); rollback to projectionist_page; create table more (n)",
        "create table made (n); attach ':memory:' as other",
    ] {
        let error = fixture
            .store
            .define("projection `x`", ddl)
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Define { .. }),
            "{ddl}: {error:?}"
        );
        assert!(error.to_string().contains("projection `x`"), "{error}");
        let left = fixture
            .store
            .query("select name from sqlite_schema where name in ('made', 'more')")
            .await
            .unwrap();
        assert_eq!(left.rows.len(), 0, "{ddl}");
    }
    fixture.sound_page(9).await;
}

#[tokio::test]
async fn hooks_may_use_savepoints_of_their_own() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    for statement in [
        "insert into t values (1)",
        "savepoint mine",
        "insert into t values (2)",
        "rollback to mine",
        "insert into t values (3)",
        "release mine",
        "savepoint left_open",
        "insert into t values (4)",
    ] {
        page.execute(statement, vec![]).await.unwrap();
    }
    page.commit(&fixture.advance()).await.unwrap();
    let expected = [1, 3, 4].map(Value::Integer);
    assert_eq!(fixture.rows().await, expected);
}

#[tokio::test]
async fn a_taking_that_waits_lends_a_hook_no_permit() {
    let fixture = Fixture::new().await;
    let mut page = fixture.store.begin().await.unwrap();
    // The permit of the store's own statements is not there for others to use.
    let taken = fixture.store.take(&fixture.checkpoint.lease, at());
    let commit = async {
        page.execute("insert into t values (1)", vec![])
            .await
            .unwrap();
        page.execute("commit", vec![]).await.unwrap_err();
        page.rollback().await;
    };
    let (taken, ()) = tokio::join!(taken, commit);
    assert_eq!(taken.unwrap().unwrap().epoch, 2);
    assert_eq!(fixture.rows().await, []);
}
