//! Files that are not what they should be, and stores that are only looked at.

use super::*;

const LOOK: OpenOptions = OpenOptions {
    read_only: true,
    create: false,
};

#[tokio::test]
async fn what_was_committed_is_there_after_opening_again() {
    let fixture = Fixture::new().await;
    fixture.sound_page(3).await;
    let Fixture {
        store, directory, ..
    } = fixture;
    drop(store);
    let store = open(&directory.path().join("projector.db")).await;
    let checkpoint = &store.checkpoints().await.unwrap()[0];
    assert_eq!((checkpoint.epoch, checkpoint.version), (1, 1));
    assert_eq!(checkpoint.position, Some(Position::new("next")));
    assert_eq!(checkpoint.changed_at, at());
    let table = store.query("select n from t").await.unwrap();
    assert_eq!(table.rows, [[Value::Integer(3)]]);
}

#[tokio::test]
async fn a_store_that_is_looked_at_shows_all_and_takes_nothing() {
    let fixture = Fixture::new().await;
    fixture.sound_page(3).await;
    let path = fixture.directory.path().join("projector.db");
    // Beside the one that writes, as `status` is beside `run`.
    let store = SqliteStore::open(&path, LOOK).await.unwrap();
    assert_eq!(store.checkpoints().await.unwrap().len(), 1);
    assert_eq!(store.query("select n from t").await.unwrap().rows.len(), 1);
    let lease = &fixture.checkpoint.lease;
    for error in [
        store.begin().await.err().unwrap(),
        store.take(lease, at()).await.unwrap_err(),
        store.create(&new_checkpoint()).await.unwrap_err(),
        store.define("x", "create table x (n)").await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
    // And while the other has a transaction open.
    let _page = fixture.store.begin().await.unwrap();
    assert_eq!(store.checkpoints().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_store_is_looked_at_after_its_writer_left() {
    let fixture = Fixture::new().await;
    fixture.sound_page(3).await;
    let Fixture {
        store, directory, ..
    } = fixture;
    drop(store);
    let path = directory.path().join("projector.db");
    let store = SqliteStore::open(&path, LOOK).await.unwrap();
    assert_eq!(store.checkpoints().await.unwrap()[0].version, 1);
}

#[tokio::test]
async fn looking_makes_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("projector.db");
    for options in [LOOK, OpenOptions::default()] {
        let error = SqliteStore::open(&path, options).await.unwrap_err();
        let source = error.source().unwrap().to_string();
        assert!(
            source.contains("no projector has run on it yet"),
            "{source}"
        );
    }
    assert!(!path.exists());
    std::fs::write(&path, "").unwrap();
    let error = SqliteStore::open(&path, LOOK).await.unwrap_err();
    let source = error.source().unwrap().to_string();
    assert!(
        source.contains("no projector has run on it yet"),
        "{source}"
    );
}

/// Not even the superuser writes here.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_directory_that_cannot_be_written_to_is_read_only() {
    let options = OpenOptions {
        create: true,
        ..OpenOptions::default()
    };
    for path in ["/sys/projector.db", "/sys/data/projector.db"] {
        let error = SqliteStore::open(path, options).await.unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[tokio::test]
async fn a_missing_directory_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory
        .path()
        .join("deep")
        .join("down")
        .join("projector.db");
    open(&path).await;
    assert!(path.exists());
}

#[tokio::test]
async fn what_is_no_database_is_named_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("projector.db");
    let content = "a text of some length, and certainly no database ".repeat(40);
    std::fs::write(&path, &content).unwrap();
    for options in [
        LOOK,
        OpenOptions {
            create: true,
            ..OpenOptions::default()
        },
    ] {
        let error = SqliteStore::open(&path, options).await.unwrap_err();
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
        let source = error.source().unwrap().to_string();
        assert!(source.contains("not a database"), "{source}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
}

#[tokio::test]
async fn a_directory_in_place_of_the_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("projector.db");
    std::fs::create_dir(&path).unwrap();
    let options = OpenOptions {
        create: true,
        ..OpenOptions::default()
    };
    let error = SqliteStore::open(&path, options).await.unwrap_err();
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
}

#[tokio::test]
async fn a_newer_store_is_refused_and_left_alone() {
    let fixture = Fixture::new().await;
    let path = fixture.directory.path().join("projector.db");
    let mut conn = sqlx::ConnectOptions::connect(&options(&path))
        .await
        .unwrap();
    sqlx::raw_sql("update projectionist_schema set version = 99")
        .execute(&mut conn)
        .await
        .unwrap();
    for options in [LOOK, OpenOptions::default()] {
        let error = SqliteStore::open(&path, options).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Schema {
                    found: 99,
                    known: schema::VERSION,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn stored_values_of_another_program_are_named() {
    let fixture = Fixture::new().await;
    let path = fixture.directory.path().join("projector.db");
    let mut conn = sqlx::ConnectOptions::connect(&options(&path))
        .await
        .unwrap();
    for (column, value) in [
        ("mode", "'sideways'"),
        ("changed_at", "'yesterday'"),
        ("epoch", "-1"),
    ] {
        let sql = format!("update projectionist_checkpoints set {column} = {value}");
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut conn)
            .await
            .unwrap();
        let error = fixture.store.checkpoints().await.unwrap_err();
        assert!(
            matches!(error, StoreError::Corrupt { .. }),
            "{column}: {error:?}"
        );
        assert!(
            error.to_string().contains(value.trim_matches('\'')),
            "{error}"
        );
        let sql = "update projectionist_checkpoints
            set mode = 'latest_version', changed_at = '2026-01-02T03:04:05Z', epoch = 1";
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
    }
}

/// Writing to a file that nobody can open any more would succeed, and be lost: it is refused (I1).
#[tokio::test]
async fn a_file_that_is_removed_or_replaced_takes_nothing_until_it_is_back() {
    let fixture = Fixture::new().await;
    fixture.sound_page(3).await;
    let path = fixture.directory.path().join("projector.db");
    let aside = fixture.directory.path().join("aside.db");
    std::fs::rename(&path, &aside).unwrap();
    for replaced in [false, true] {
        if replaced {
            std::fs::write(&path, "").unwrap();
        }
        let error = fixture.store.begin().await.err().unwrap();
        let text = crate::apply::chain(&error).join(": ");
        assert!(text.contains("removed or replaced"), "{text}");
    }
    std::fs::rename(&aside, &path).unwrap();
    drop(fixture.store.begin().await.unwrap());
    assert_eq!(fixture.store.checkpoints().await.unwrap()[0].version, 1);
}

/// Whoever copies `projector.db` after an orderly end has all of it.
#[tokio::test]
async fn a_closed_store_is_one_file() {
    let fixture = Fixture::new().await;
    fixture.sound_page(3).await;
    let copy = fixture.directory.path().join("copy.db");
    fixture.store.close().await;
    assert!(!fixture.directory.path().join("projector.db-wal").exists());
    std::fs::copy(fixture.directory.path().join("projector.db"), &copy).unwrap();
    let table = open(&copy).await.query("select n from t").await.unwrap();
    assert_eq!(table.rows, [[Value::Integer(3)]]);
    // Closed is not gone: a later page opens it again.
    assert_eq!(fixture.rows().await, [Value::Integer(3)]);
}
