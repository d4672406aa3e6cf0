//! Ranges that are split and merged under a pump (P13, P19).

use super::*;
use crate::store::Split;

fn ids(calls: Vec<(String, u32)>) -> Vec<String> {
    calls.into_iter().map(|(id, _)| id).collect()
}

fn bounds(children: &[Checkpoint]) -> Vec<String> {
    let bounds = children.iter().map(|child| child.bounds.to_string());
    bounds.collect()
}

impl Rig {
    /// Steps into a split, and says what became of the lease.
    async fn splits(&mut self) -> Vec<Checkpoint> {
        match self.pump.step().await {
            Step::Split(children) => {
                assert_eq!(self.store.checkpoints().await.unwrap(), children);
                children
            }
            step => panic!("no split: {step:?}"),
        }
    }

    async fn pumps(&self, children: &[Checkpoint]) -> Vec<Pump> {
        let mut pumps = Vec::new();
        for child in children {
            let pulse = Arc::new(Pulse::new(CancellationToken::new()));
            let pump = Pump::take(Arc::clone(&self.pump.runner), child, pulse).await;
            pumps.push(pump.unwrap().unwrap());
        }
        pumps
    }

    /// Steps a pump to the end of its range.
    async fn reads(&self, pump: &mut Pump) -> Vec<String> {
        loop {
            match pump.step().await {
                Step::More(_) => {}
                Step::CaughtUp(_) => return ids(self.calls()),
                step => panic!("it does not go on: {step:?}"),
            }
        }
    }
}

async fn split_by_hand(rig: &Rig, owned: &Checkpoint) -> Vec<Checkpoint> {
    let half = |min: &str, max: &str| Bounds {
        min: min.to_owned(),
        max: max.to_owned(),
    };
    let split = Split {
        lease: owned.lease.clone(),
        epoch: owned.epoch,
        version: owned.version,
        children: vec![half("", "80"), half("80", "FF")],
        at: rig.clock.now(),
    };
    rig.store.split(&split).await.unwrap()
}

#[tokio::test]
async fn children_go_on_from_their_parent_s_position() {
    let mut rig = Rig::new(done()).await;
    rig.feed.push(["a", "b", "c"].map(|id| change(id, "{}")));
    rig.feed.push_at("90", [change("x", "{}")]);
    assert!(matches!(rig.pump.step().await, Step::More(_)));
    assert_eq!(ids(rig.calls()), ["a", "b", "c"]);
    rig.feed.split("80");
    rig.feed.push([change("d", "{}")]);
    let children = rig.splits().await;
    assert_eq!(bounds(&children), ["-80", "80-FF"]);
    let parent = &rig.pump.checkpoint;
    for child in &children {
        let of = (&child.position, child.epoch, child.version);
        assert_eq!(of, (&parent.position, parent.epoch, parent.version));
        assert_eq!(child.start, "beginning");
    }
    let mut pumps = rig.pumps(&children).await;
    assert_eq!(rig.reads(&mut pumps[0]).await, ["d"]);
    assert_eq!(rig.reads(&mut pumps[1]).await, ["x"]);
    rig.feed.push([change("e", "{}")]);
    assert_eq!(rig.reads(&mut pumps[0]).await, ["e"]);
}

#[tokio::test]
async fn before_the_first_read_children_begin_where_their_parent_would_have() {
    for start in ["beginning", "1970-01-01T00:00:00Z"] {
        let mut rig = Rig::of(done(), Mode::LatestVersion, start, None).await;
        rig.feed.push([change("a", "{}")]);
        rig.feed.push_at("90", [change("x", "{}")]);
        rig.feed.split("80");
        let children = rig.splits().await;
        assert!(children.iter().all(|child| child.position.is_none()));
        let mut pumps = rig.pumps(&children).await;
        assert_eq!(rig.reads(&mut pumps[0]).await, ["a"]);
        assert_eq!(rig.reads(&mut pumps[1]).await, ["x"]);
    }
}

#[tokio::test]
async fn a_child_is_split_again_before_it_read_anything() {
    let mut rig = Rig::new(done()).await;
    rig.feed.split("80");
    let children = rig.splits().await;
    rig.feed.split("40");
    rig.feed.push([change("a", "{}")]);
    rig.feed.push_at("40", [change("b", "{}")]);
    let mut pumps = rig.pumps(&children).await;
    let Step::Split(children) = pumps[0].step().await else {
        panic!("its range was split");
    };
    assert_eq!(bounds(&children), ["-40", "40-80"]);
    let mut children = rig.pumps(&children).await;
    assert_eq!(rig.reads(&mut children[0]).await, ["a"]);
    assert_eq!(rig.reads(&mut children[1]).await, ["b"]);
    assert!(rig.reads(&mut pumps[1]).await.is_empty());
}

#[tokio::test]
async fn a_list_that_is_behind_is_asked_for_again() {
    let mut rig = Rig::new(done()).await;
    rig.feed.split_unseen("80", 2);
    for _ in 0..2 {
        let Step::Wait { why, delay } = rig.pump.step().await else {
            panic!("the list does not show it yet");
        };
        assert!(delay > Duration::ZERO);
        assert!(why.contains("does not show it yet"), "{why}");
        assert_eq!(rig.store.checkpoints().await.unwrap().len(), 1);
    }
    assert_eq!(bounds(&rig.splits().await), ["-80", "80-FF"]);
}

#[tokio::test]
async fn a_list_that_stays_behind_ends_the_projection() {
    let mut rig = Rig::new(done()).await;
    rig.feed.split_unseen("80", 1000);
    let mut waits = 0;
    let problem = loop {
        match rig.pump.step().await {
            Step::Wait { .. } => waits += 1,
            Step::Failed(problem) => break problem,
            step => panic!("{step:?}"),
        }
    };
    assert_eq!((problem.code, waits), (codes::RANGE_GONE, 19));
    assert_eq!(rig.store.checkpoints().await.unwrap().len(), 1);
}

/// A feed that reads through a split on its own tells of it, and the lease is split all the same.
#[tokio::test]
async fn a_page_that_tells_of_other_ranges_is_committed_and_the_lease_split() {
    let mut rig = Rig::new(done()).await;
    rig.feed.read_through();
    rig.feed.push(["a", "b", "c"].map(|id| change(id, "{}")));
    rig.feed.push_at("90", [change("x", "{}")]);
    rig.feed.split("80");
    let children = rig.splits().await;
    assert_eq!(ids(rig.calls()), ["a", "b", "c"]);
    assert!(children.iter().all(|child| child.version == 1));
    let mut pumps = rig.pumps(&children).await;
    assert!(rig.reads(&mut pumps[0]).await.is_empty());
    assert_eq!(rig.reads(&mut pumps[1]).await, ["x"]);
}

#[tokio::test]
async fn ranges_that_a_page_told_of_are_looked_at_again_after_a_while() {
    let mut rig = Rig::new(done()).await;
    rig.feed.read_through();
    rig.feed.split_unseen("80", 1);
    assert!(matches!(rig.pump.step().await, Step::CaughtUp(_)));
    assert!(matches!(rig.pump.step().await, Step::CaughtUp(_)));
    rig.clock.advance(Limits::default().poll);
    assert_eq!(rig.splits().await.len(), 2);
}

/// The split was done, and its answer lost: what it made is found.
#[tokio::test]
async fn a_split_whose_answer_was_lost_is_found_done() {
    let mut rig = Rig::new(done()).await;
    rig.feed.split("80");
    let children = split_by_hand(&rig, &rig.pump.checkpoint.clone()).await;
    assert_eq!(rig.splits().await, children);
}

/// I3: an owner that lost its lease does not take what another made of it.
#[tokio::test]
async fn an_owner_whose_lease_another_took_or_split_stops() {
    let mut rig = Rig::new(done()).await;
    rig.feed.split("80");
    let lease = rig.pump.checkpoint.lease.clone();
    let thief = rig.store.take(&lease, rig.clock.now()).await.unwrap();
    for split in [false, true] {
        if split {
            split_by_hand(&rig, thief.as_ref().unwrap()).await;
        }
        let Step::Failed(problem) = rig.pump.step().await else {
            panic!("a fenced owner stops");
        };
        assert_eq!(problem.code, codes::LEASE_LOST);
        assert!(problem.message.contains("`probe`"), "{problem}");
    }
}

#[tokio::test]
async fn after_a_merge_each_lease_reads_its_part() {
    let mut rig = Rig::new(done()).await;
    rig.feed.split("80");
    let children = rig.splits().await;
    let mut pumps = rig.pumps(&children).await;
    rig.feed.push([change("a", "{}")]);
    assert_eq!(rig.reads(&mut pumps[0]).await, ["a"]);
    rig.feed.merge("80");
    rig.feed.push([change("b", "{}")]);
    rig.feed.push_at("90", [change("x", "{}")]);
    assert_eq!(rig.reads(&mut pumps[0]).await, ["b"]);
    assert_eq!(rig.reads(&mut pumps[1]).await, ["x"]);
    assert_eq!(rig.store.checkpoints().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_merge_under_an_all_versions_reader_is_terminal_and_stores_nothing() {
    let pinned = Some(Position::new("0"));
    let mut rig = Rig::of(done(), Mode::AllVersionsAndDeletes, "now", pinned).await;
    rig.feed.split("80");
    let children = rig.splits().await;
    let mut pumps = rig.pumps(&children).await;
    rig.feed.push([change("a", "{}")]);
    rig.feed.merge("80");
    for pump in &mut pumps {
        let Step::Failed(problem) = pump.step().await else {
            panic!("it cannot be read");
        };
        assert_eq!(problem.code, codes::RANGES_MERGED);
        assert!(problem.help.contains("new name"), "{}", problem.help);
    }
    assert!(rig.calls().is_empty());
    let standing = rig.store.checkpoints().await.unwrap();
    assert!(
        standing
            .iter()
            .all(|row| row.version == children[0].version)
    );
}

/// P13: settings that say another start by now change nothing for a range of which nothing was read.
#[tokio::test]
async fn the_stored_start_wins() {
    let start = "1970-01-01T00:00:01Z";
    let mut rig = Rig::of(done(), Mode::LatestVersion, start, None).await;
    let then = RawChange {
        timestamp: Timestamp::from_second(1).unwrap(),
        ..change("then", "{}")
    };
    rig.feed.push([change("old", "{}"), then]);
    assert!(matches!(rig.pump.step().await, Step::CaughtUp(_)));
    assert_eq!(ids(rig.calls()), ["then"]);
}
