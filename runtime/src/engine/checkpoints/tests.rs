use std::sync::Arc;

use jiff::Timestamp;
use projectionist::change::{Document, Operation, RawChange};
use projectionist::extract::state::States;
use projectionist::registry::ProjectionDef;

use super::*;
use crate::clock::ManualClock;
use crate::coordination::Instance;
use crate::coordination::memory::MemoryCoordination;
use crate::engine::{Engine, Ready, SchemaPolicy};
use crate::feed::script::ScriptFeed;
use crate::fixture::{AUDIT, BILLING};
use crate::store::Store;
use crate::store::memory::MemoryStore;

/// A scripted feed, a store, and a clock that nobody moves.
struct Rig {
    feed: Arc<ScriptFeed>,
    store: MemoryStore,
    clock: ManualClock,
}

impl Rig {
    fn new() -> Self {
        Self {
            feed: Arc::new(ScriptFeed::new("store", Some(Duration::from_hours(1)))),
            store: MemoryStore::new(),
            clock: ManualClock::new(Timestamp::UNIX_EPOCH),
        }
    }

    async fn prepare(&self, def: &'static ProjectionDef, start: Start) -> Result<Ready, Problem> {
        let setup = Setup {
            schema: SchemaPolicy::Apply,
            projections: vec![Prepared {
                def,
                start,
                start_origin: "the test".to_owned(),
                batch: 3,
                feed: Arc::clone(&self.feed) as _,
            }],
            states: States::default(),
            store: Arc::new(self.store.clone()),
            coordination: Arc::new(MemoryCoordination::new()),
            instance: Instance {
                name: "test".to_owned(),
                incarnation: "test".to_owned(),
                pid: 0,
                started_at: Timestamp::UNIX_EPOCH,
            },
            clock: Arc::new(self.clock.clone()),
            seed: 1,
            limits: Limits::default(),
        };
        let ready = Engine::prepare(setup).await;
        ready.map_err(|mut problems| problems.0.remove(0))
    }

    /// Bounds and position of each lease.
    async fn leases(&self) -> Vec<(String, Option<String>)> {
        let rows = self.store.checkpoints().await.unwrap();
        rows.into_iter()
            .map(|row| {
                (
                    row.bounds.to_string(),
                    row.position.map(|at| at.to_string()),
                )
            })
            .collect()
    }

    fn write(&self) {
        self.feed.push([RawChange {
            id: "a".into(),
            partition_key: "[\"a\"]".into(),
            operation: Operation::Upsert,
            current: Some(Document::from_json("{}".into())),
            previous: None,
            etag: None,
            sequence: Some(1),
            ordinal: 0,
            timestamp: Timestamp::UNIX_EPOCH,
            expired: false,
        }]);
    }
}

fn lease(bounds: &str, position: &str) -> (String, Option<String>) {
    (bounds.to_owned(), Some(position.to_owned()))
}

/// P12: a list that shows the ranges of before leaves no part without a pin.
#[tokio::test]
async fn now_is_pinned_by_a_fresh_list() {
    for def in [&BILLING, &AUDIT] {
        let rig = Rig::new();
        rig.feed.split("80");
        rig.write();
        rig.feed.split_unseen("C0", 1);
        let ready = rig.prepare(def, Start::Now).await.unwrap();
        assert_eq!(ready.checkpoints().count(), 3);
        let expected = [lease("-80", "1"), lease("80-C0", "1"), lease("C0-FF", "1")];
        assert_eq!(rig.leases().await, expected);
    }
}

#[tokio::test]
async fn a_list_that_is_behind_for_a_while_is_waited_for() {
    let rig = Rig::new();
    rig.feed.split_unseen("80", 4);
    let time = async {
        loop {
            rig.clock.advance(Limits::default().poll);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ready = rig.prepare(&BILLING, Start::Now) => drop(ready.unwrap()),
        () = time => unreachable!("time does not end"),
    }
    assert_eq!(rig.leases().await.len(), 2);
}

/// P12: what is pinned is stored at once, so a start goes on where it was interrupted.
#[tokio::test]
async fn a_short_outage_while_now_is_pinned_is_waited_for_and_a_long_one_ends_the_start() {
    for (failures, ends) in [(3, false), (4, true)] {
        let rig = Rig::new();
        rig.feed.split("80");
        for _ in 0..failures {
            rig.feed.fail(FeedError::Unavailable {
                collection: "store".to_owned(),
                source: "no route".into(),
            });
        }
        let time = async {
            loop {
                rig.clock.advance(Limits::default().poll);
                tokio::task::yield_now().await;
            }
        };
        let ready = tokio::select! {
            ready = rig.prepare(&BILLING, Start::Now) => ready,
            () = time => unreachable!("time does not end"),
        };
        if ends {
            assert_eq!(ready.unwrap_err().code, codes::FEED_UNAVAILABLE);
            assert!(rig.leases().await.is_empty());
        } else {
            assert_eq!(ready.unwrap().checkpoints().count(), 2);
        }
    }
}

#[tokio::test]
async fn a_list_that_stays_behind_ends_the_start() {
    let rig = Rig::new();
    rig.feed.split_unseen("80", 1000);
    let time = async {
        loop {
            rig.clock.advance(Limits::default().poll);
            tokio::task::yield_now().await;
        }
    };
    let problem = tokio::select! {
        ready = rig.prepare(&BILLING, Start::Now) => ready.unwrap_err(),
        () = time => unreachable!("time does not end"),
    };
    assert_eq!(problem.code, codes::RANGE_GONE);
    assert!(rig.leases().await.is_empty());
}

/// I6: what a start left that was cut off is completed; splits and merges of since change nothing in that.
#[tokio::test]
async fn a_start_that_was_cut_off_is_completed_after_splits_and_merges() {
    for merged in [false, true] {
        let rig = Rig::new();
        rig.feed.split("80");
        let ready = rig.prepare(&BILLING, Start::Now).await.unwrap();
        let first = ready.checkpoints().next().unwrap().clone();
        // As if it had died after the first of two.
        let rig = Rig {
            store: MemoryStore::new(),
            ..rig
        };
        let new = NewCheckpoint {
            projection: first.projection,
            rid: first.rid,
            bounds: first.bounds,
            mode: first.mode,
            start: first.start,
            position: first.position,
            at: first.changed_at,
        };
        rig.store.create(&new).await.unwrap();
        rig.write();
        if merged {
            rig.feed.merge("80");
        } else {
            rig.feed.split("40");
            rig.feed.split("C0");
        }
        drop(rig.prepare(&BILLING, Start::Now).await.unwrap());
        let expected = if merged {
            vec![lease("-80", "0"), lease("80-FF", "1")]
        } else {
            vec![
                lease("-40", "0"),
                lease("40-80", "0"),
                lease("80-C0", "1"),
                lease("C0-FF", "1"),
            ]
        };
        assert_eq!(rig.leases().await, expected);
    }
}

#[tokio::test]
async fn ranges_split_while_nobody_ran_split_their_leases_at_the_start() {
    for def in [&BILLING, &AUDIT] {
        let rig = Rig::new();
        drop(rig.prepare(def, Start::Now).await.unwrap());
        rig.write();
        for at in ["80", "40", "C0"] {
            rig.feed.split(at);
        }
        let ready = rig.prepare(def, Start::Now).await.unwrap();
        assert_eq!(ready.checkpoints().count(), 4);
        let expected = ["-40", "40-80", "80-C0", "C0-FF"].map(|bounds| lease(bounds, "0"));
        assert_eq!(rig.leases().await, expected);
        let epochs: Vec<_> = ready.checkpoints().map(|row| row.epoch).collect();
        assert_eq!(epochs, [1; 4], "it was taken to be split");
    }
}

#[tokio::test]
async fn a_merge_while_nobody_ran_is_terminal_in_all_versions_mode_alone() {
    for def in [&BILLING, &AUDIT] {
        let rig = Rig::new();
        rig.feed.split("80");
        drop(rig.prepare(def, Start::Now).await.unwrap());
        rig.feed.merge("80");
        let outcome = rig.prepare(def, Start::Now).await;
        assert_eq!(rig.leases().await.len(), 2);
        match def.mode {
            Mode::LatestVersion => drop(outcome.unwrap()),
            Mode::AllVersionsAndDeletes => {
                let problem = outcome.unwrap_err();
                assert_eq!(problem.code, codes::RANGES_MERGED);
                assert!(problem.message.contains("`audit`"), "{problem}");
            }
        }
    }
}

#[test]
fn gaps_are_what_no_lease_has() {
    let bounds = |min: &str, max: &str| Bounds {
        min: min.to_owned(),
        max: max.to_owned(),
    };
    let row = |min: &str, max: &str| Checkpoint {
        lease: crate::position::LeaseId::from_stored(min.to_owned()),
        projection: ProjectionId {
            tenant: String::new(),
            collection: String::new(),
            name: String::new(),
            generation: 1,
        },
        rid: String::new(),
        bounds: bounds(min, max),
        mode: Mode::LatestVersion,
        epoch: 0,
        version: 0,
        start: String::new(),
        position: None,
        changed_at: Timestamp::UNIX_EPOCH,
    };
    let whole = Bounds::whole();
    assert_eq!(gaps(&whole, &[]), std::slice::from_ref(&whole));
    assert_eq!(gaps(&whole, &[row("", "FF")]), []);
    assert_eq!(
        gaps(&whole, &[row("80", "90"), row("10", "20")]),
        [bounds("", "10"), bounds("20", "80"), bounds("90", "FF")]
    );
    assert_eq!(
        gaps(&bounds("40", "80"), &[row("", "50"), row("70", "FF")]),
        [bounds("50", "70")]
    );
}

/// Whoever renames a container starts anew, and over the read model of before.
#[tokio::test]
async fn checkpoints_of_another_collection_are_told() {
    let mut rig = Rig::new();
    let ready = rig.prepare(&BILLING, Start::Now).await.unwrap();
    assert!(ready.notices().is_empty(), "{:?}", ready.notices());
    drop(ready);
    rig.feed = Arc::new(ScriptFeed::new("renamed", None));
    let ready = rig.prepare(&BILLING, Start::Now).await.unwrap();
    assert_eq!(
        ready.notices(),
        [
            "projection `billing` now reads `script/script/renamed`; this store also holds its checkpoints of `script/script/store`, and what it wrote from there stays in its read model"
        ]
    );
    let others = rig.prepare(&AUDIT, Start::Now).await.unwrap_err();
    assert_eq!(others.code, codes::NO_RETENTION, "it has none of before");
}
