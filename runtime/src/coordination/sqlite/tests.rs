//! Coordination on SQLite; what both kinds promise is asked of the one in memory, too.

use super::*;
use crate::coordination::PumpState;
use crate::coordination::memory::MemoryCoordination;
use crate::position::{Bounds, ProjectionId};

const CREATE: OpenOptions = OpenOptions {
    read_only: false,
    create: true,
};

const LOOK: OpenOptions = OpenOptions {
    read_only: true,
    create: false,
};

fn second(second: i64) -> Timestamp {
    Timestamp::new(1_800_000_000 + second, 5).unwrap()
}

fn instance(name: &str) -> Instance {
    Instance {
        name: name.to_owned(),
        incarnation: format!("first of {name}"),
        pid: u32::MAX,
        started_at: second(0),
    }
}

fn reports() -> Vec<PumpReport> {
    let report = |(number, state)| PumpReport {
        projection: ProjectionId {
            tenant: "t".to_owned(),
            collection: "emulator/shop/ördërs".to_owned(),
            name: "totals".to_owned(),
            generation: 2,
        },
        bounds: Bounds {
            min: format!("{number:02}"),
            max: "FF".to_owned(),
        },
        state,
        since: second(1),
        attempts: 3,
        error: "it \"failed\": 'so'".to_owned(),
        retry_at: (number == 3).then(|| second(9)),
        applied: u64::MAX,
    };
    PumpState::ALL.into_iter().enumerate().map(report).collect()
}

async fn keeps_what_the_living_last_said(coordination: &dyn Coordination) {
    assert_eq!(coordination.rolls().await.unwrap(), []);
    coordination
        .beat(&instance("one"), second(1), &[])
        .await
        .unwrap();
    let reports = reports();
    coordination
        .beat(&instance("one"), second(2), &reports)
        .await
        .unwrap();
    let expected = Roll {
        instance: instance("one"),
        seen_at: second(2),
        pumps: reports.clone(),
    };
    assert_eq!(coordination.rolls().await.unwrap(), [expected]);
    let again = Instance {
        incarnation: "second of one".to_owned(),
        ..instance("one")
    };
    coordination
        .beat(&again, second(3), &reports[1..])
        .await
        .unwrap();
    let rolls = coordination.rolls().await.unwrap();
    assert_eq!((rolls.len(), &rolls[0].instance), (1, &again));
    assert_eq!(rolls[0].pumps, reports[1..]);
    // Who left stays until another one's heartbeat.
    coordination
        .beat(&instance("two"), second(4), &[])
        .await
        .unwrap();
    let rolls = coordination.rolls().await.unwrap();
    assert_eq!((rolls.len(), &*rolls[0].instance.name), (1, "two"));
}

#[tokio::test]
async fn both_kinds_keep_what_the_living_last_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data").join("coordination.db");
    let coordination = SqliteCoordination::open(&path, CREATE).await.unwrap();
    keeps_what_the_living_last_said(&coordination).await;
    keeps_what_the_living_last_said(&MemoryCoordination::new()).await;
}

#[tokio::test]
async fn another_process_may_look() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("coordination.db");
    SqliteCoordination::open(&path, LOOK).await.unwrap_err();
    assert!(!path.exists());
    let writer = SqliteCoordination::open(&path, CREATE).await.unwrap();
    writer
        .beat(&instance("one"), second(1), &reports())
        .await
        .unwrap();
    let reader = SqliteCoordination::open(&path, LOOK).await.unwrap();
    assert_eq!(reader.rolls().await.unwrap(), writer.rolls().await.unwrap());
    let error = reader
        .beat(&instance("two"), second(2), &[])
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
}

#[tokio::test]
async fn a_dropped_heartbeat_leaves_it_working() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("coordination.db");
    let coordination = SqliteCoordination::open(&path, CREATE).await.unwrap();
    let one = instance("one");
    let beat = coordination.beat(&one, second(1), &[]);
    // Polled once: the statement is under way, and its answer finds nobody.
    tokio::select! {
        biased;
        _ = beat => {}
        () = std::future::ready(()) => {}
    }
    coordination
        .beat(&instance("one"), second(2), &[])
        .await
        .unwrap();
    assert_eq!(coordination.rolls().await.unwrap()[0].seen_at, second(2));
}

#[tokio::test]
async fn what_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("coordination.db");
    let coordination = SqliteCoordination::open(&path, CREATE).await.unwrap();
    let mut conn = options(&path).connect().await.unwrap();
    for (update, said) in [
        ("pumps = replace(pumps, '\"hung\"', '\"asleep\"')", "asleep"),
        ("pumps = 'no list'", "no list"),
        ("seen_at = 'noon'", "noon"),
    ] {
        coordination
            .beat(&instance("one"), second(1), &reports())
            .await
            .unwrap();
        let sql = format!("update projectionist_instances set {update}");
        raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut conn)
            .await
            .unwrap();
        let error = coordination.rolls().await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// P9: what is removed or replaced under a running instance is made anew by its next heartbeat.
#[tokio::test]
async fn a_file_that_is_removed_or_replaced_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("coordination.db");
    let coordination = SqliteCoordination::open(&path, CREATE).await.unwrap();
    let one = instance("one");
    let beats = |at| coordination.beat(&one, second(at), &[]);
    beats(1).await.unwrap();
    for (at, replaced) in [(2, false), (3, true)] {
        for name in [
            "coordination.db",
            "coordination.db-wal",
            "coordination.db-shm",
        ] {
            let _ = std::fs::remove_file(folder.path().join(name));
        }
        if replaced {
            std::fs::write(&path, "").unwrap();
        }
        beats(at).await.unwrap();
        let seen = SqliteCoordination::open(&path, LOOK).await.unwrap();
        assert_eq!(seen.rolls().await.unwrap()[0].seen_at, second(at));
    }
}
