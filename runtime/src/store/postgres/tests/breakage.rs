//! Hooks that end the page's transaction, or go on after a failure: the page is not committed (P6).

use projectionist::extract::tx::TxErrorClass;

use super::*;

#[tokio::test]
async fn a_portable_hook_cannot_end_the_transaction() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    for statement in [
        "commit",
        " COMMIT",
        "-- done\nend",
        "/* so */ rollback",
        "abort",
        "begin",
        "start transaction",
        "prepare transaction 'x'",
    ] {
        let mut page = fixture.store.begin().await.unwrap();
        page.execute("insert into t values (1)", vec![])
            .await
            .unwrap();
        let error = page.execute(statement, vec![]).await.unwrap_err();
        assert_eq!(error.class(), TxErrorClass::Statement);
        assert!(
            error.to_string().contains("the projector's alone"),
            "{error}"
        );
        page.rollback().await;
        assert_eq!(fixture.rows().await, [], "{statement}");
    }
    // Savepoints are a hook's own affair.
    let mut page = fixture.store.begin().await.unwrap();
    for statement in [
        "savepoint mine",
        "insert into t values (1)",
        "rollback to savepoint mine",
        "release savepoint mine",
    ] {
        page.execute(statement, vec![]).await.unwrap();
    }
    page.commit(&fixture.advance()).await.unwrap();
    assert_eq!(fixture.rows().await, []);
    assert_eq!(fixture.version().await, 1);
}

/// What a native hook commits is committed, for there is no asking the server; but the checkpoint stays, and it is told.
#[tokio::test]
async fn a_native_hook_that_ends_the_transaction_is_found_out() {
    for statements in [
        &["commit"][..],
        &["commit", "begin"],
        &["rollback"],
        &["rollback", "begin", "insert into t values (2)"],
        &["rollback; begin"],
        &["rollback and chain"],
    ] {
        let Some(fixture) = Fixture::new().await else {
            return;
        };
        let mut page = fixture.store.begin().await.unwrap();
        let conn: &mut PgConnection = page.native().downcast_mut().unwrap();
        for statement in statements {
            sqlx::raw_sql(AssertSqlSafe(*statement))
                .execute(&mut *conn)
                .await
                .unwrap();
        }
        let error = page.commit(&fixture.advance()).await.unwrap_err();
        assert!(
            matches!(error, CommitError::Broken),
            "{statements:?}: {error:?}"
        );
        assert_eq!(fixture.version().await, 0, "{statements:?}");
        assert_eq!(fixture.rows().await, [], "{statements:?}");
        fixture.sound_page().await;
    }
}

/// The server takes everything back, whatever the hook makes of its error.
#[tokio::test]
async fn a_failure_that_a_hook_swallows_is_told() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    page.execute("insert into nowhere values (1)", vec![])
        .await
        .unwrap_err();
    let error = page.commit(&fixture.advance()).await.unwrap_err();
    assert!(matches!(error, CommitError::Refused(_)), "{error:?}");
    assert_eq!(fixture.rows().await, []);
    assert_eq!(fixture.version().await, 0);
    fixture.sound_page().await;
}

#[tokio::test]
async fn a_deferred_constraint_refuses_the_commit() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let ddl = "create table parents (id bigint primary key);
        create table children (parent bigint references parents deferrable initially deferred)";
    fixture.store.define("the test", ddl).await.unwrap();
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into children values (1)", vec![])
        .await
        .unwrap();
    let error = page.commit(&fixture.advance()).await.unwrap_err();
    assert!(matches!(error, CommitError::Refused(_)), "{error:?}");
    assert_eq!(fixture.version().await, 0);
    fixture.sound_page().await;
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_the_row() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let lost = &fixture.store.0.lose_answers;
    lost.store(true, std::sync::atomic::Ordering::SeqCst);
    let mut page = fixture.store.begin().await.unwrap();
    page.execute("insert into t values (1)", vec![])
        .await
        .unwrap();
    page.commit(&fixture.advance()).await.unwrap();
    lost.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(fixture.rows().await.len(), 1);
    assert_eq!(fixture.version().await, 1);
}

/// A future that is dropped anywhere leaves no transaction behind.
#[tokio::test]
async fn a_page_that_is_dropped_is_rolled_back() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    for _ in 0..20 {
        let mut page = fixture.store.begin().await.unwrap();
        page.execute("insert into t values (1)", vec![])
            .await
            .unwrap();
        drop(page);
    }
    assert_eq!(fixture.rows().await, []);
    fixture.sound_page().await;
}

#[tokio::test]
async fn ddl_runs_whole_or_not_at_all() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    for ddl in [
        "create table made (n bigint); create table made (n bigint)",
        "create table made (n bigint); rollback; begin; create table more (n bigint)",
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
        let left = fixture
            .store
            .query("select to_regclass('made')::text, to_regclass('more')::text")
            .await
            .unwrap();
        assert_eq!(left.rows, [[Value::Null, Value::Null]], "{ddl}");
    }
    fixture.sound_page().await;
}

#[tokio::test]
async fn values_come_back_as_they_went() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let mut page = fixture.store.begin().await.unwrap();
    let decimal = "12345678901234.567800".parse().unwrap();
    let values = vec![
        Value::Bool(true),
        Value::Integer(i64::MIN),
        Value::Real(1.5),
        Value::Text("naïve 😀".to_owned()),
        Value::Blob(vec![0, 1, 255]),
        Value::Decimal(decimal),
    ];
    let sql =
        "select $1::boolean, $2::bigint, $3::double precision, $4::text, $5::bytea, $6::numeric";
    let rows = page.fetch(sql, values.clone(), 2).await.unwrap();
    assert_eq!(rows, [values]);
    // NULL fits whatever it stands for, and what has no form of its own is text.
    let rows = page
        .fetch(
            "select $1::bigint, $2::uuid, '2026-01-31 12:00:00.5+00'::timestamptz, '1999-12-31'::date,
                 '67e55044-10b1-426f-9247-bb680e5fe0c8'::uuid, '{\"a\": 1}'::jsonb, 7::smallint",
            vec![Value::Null, Value::Null],
            2,
        )
        .await
        .unwrap();
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(
        rows,
        [vec![
            Value::Null,
            Value::Null,
            text("2026-01-31T12:00:00.5Z"),
            text("1999-12-31"),
            text("67e55044-10b1-426f-9247-bb680e5fe0c8"),
            text("{\"a\": 1}"),
            Value::Integer(7),
        ]]
    );
    let error = page.fetch("select '(1,2)'::point", vec![], 1).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("column::text"), "{error}");
    page.rollback().await;
}
