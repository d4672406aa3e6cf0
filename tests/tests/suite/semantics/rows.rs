//! The statements, each with the test that shows it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist_emulator::CollectionConfig;
use projectionist_runtime::clock::Clock as _;
use projectionist_runtime::engine::Until;
use serde_json::json;

use super::world::{Counting, Every, Latest, Other, Soft, Switched, Told, World, config, def};

type Row = (&'static str, BoxFuture<'static, ()>);

macro_rules! rows {
    ($($statement:literal => $test:ident,)*) => {
        pub(super) fn all() -> Vec<Row> {
            vec![$(($statement, Box::pin($test()))),*]
        }
    };
}

rows! {
    "order holds inside one logical partition and inside one range" => order,
    "a failing page is read again, also when it was the very first, and the checkpoint waits for it" => failing_first_page,
    "a hook is never called with an empty batch" => no_empty_batch,
    "an owner that lost its lease commits nothing, and the page is read again" => fenced,
    "a change carries the whole document" => whole_document,
    "the feed is unfiltered: a write that changes nothing is a change" => same_again,
    "latest version: created then replaced between two reads comes once, with the replace" => latest_once,
    "latest version: a hard delete comes not at all" => latest_hard_delete,
    "latest version: created and deleted between two reads comes not at all" => latest_gone,
    "latest version: a soft delete is a write like any other" => soft_delete,
    "all versions: every write comes, with operation, current and previous" => every_write,
    "all versions: created and deleted between two reads comes as both" => every_gone,
    "all versions: previous only where the container retains it" => no_previous,
    "all versions: a delete has id and partition key, and no document" => delete_is_bare,
    "all versions: a document that expired is a delete that says so" => expired,
    "`now` is anchored when the projector starts, not at the first read" => now_is_anchored,
    "`now` does not see what is older" => now_sees_nothing_old,
    "`beginning` sees what is there" => beginning,
    "a time sees what was written then or later" => time,
    "a checkpoint wins over a start option, which is reported" => checkpoint_wins,
    "all versions refuses beginning and times, naming the hook and the way out" => no_beginning,
    "all versions refuses a collection without a retention window" => no_retention,
    "another name reads the same feed on its own" => names,
    "older than the retention window is terminal" => retention_exceeded,
    "a collection made anew under the same name is another one" => recreated,
    "a journal that is shorter than the checkpoint is an error" => shortened,
    "another mode under the same name is refused, with the choices" => switched,
}

fn versions(told: &[Told]) -> Vec<(&str, &str, u64)> {
    told.iter()
        .map(|told| {
            let version = told
                .current
                .as_ref()
                .map_or(0, |now| now["v"].as_u64().unwrap());
            (told.operation.as_str(), told.id.as_str(), version)
        })
        .collect()
}

async fn order() {
    let world = World::new(config().ranges(4));
    world.told::<Every>().await;
    for version in 1..=5 {
        for document in 0..24 {
            let (id, key) = (format!("d{document}"), format!("k{}", document % 8));
            if version == 1 {
                world.create(&id, &key);
            } else {
                world.replace(&id, &key, version);
            }
        }
    }
    let told = world.told::<Every>().await;
    assert_eq!(told.len(), 120);
    let of =
        |same: &dyn Fn(&Told) -> bool| told.iter().filter(|told| same(told)).collect::<Vec<_>>();
    let mut ranges: Vec<_> = told.iter().map(|told| told.range.clone()).collect();
    ranges.sort();
    ranges.dedup();
    assert!(ranges.len() > 1, "the keys lie in several ranges");
    for range in &ranges {
        let told = of(&|told| told.range == *range);
        assert!(told.is_sorted_by(|a, b| a.sequence < b.sequence));
    }
    for key in 0..8 {
        let key = format!("[\"k{key}\"]");
        let told = of(&|told| told.key == key);
        let written: Vec<u64> = (1..=5).flat_map(|version| [version; 3]).collect();
        let came: Vec<u64> = told
            .iter()
            .map(|told| told.current.as_ref().unwrap()["v"].as_u64().unwrap())
            .collect();
        assert_eq!(came, written, "{key}");
    }
}

async fn failing_first_page() {
    let world = World::new(config());
    world.create("a", "k");
    world.create("b", "k");
    world.log.fails.store(true, Ordering::SeqCst);
    let (code, _) = world.stops::<Latest>().await;
    assert_eq!(code, "gave-up");
    let [checkpoint] = &world.store.checkpoints().await.unwrap()[..] else {
        panic!("one range has one checkpoint");
    };
    assert_eq!((checkpoint.version, &checkpoint.position), (0, &None));
    world.log.take();
    world.log.fails.store(false, Ordering::SeqCst);
    let told = world.told::<Latest>().await;
    assert_eq!(versions(&told), [("upsert", "a", 1), ("upsert", "b", 1)]);
}

async fn no_empty_batch() {
    let world = World::new(config().ranges(4));
    world.told::<Counting>().await;
    for document in 0..10 {
        world.create(&format!("d{document}"), &format!("k{document}"));
        world.told::<Counting>().await;
        world.told::<Counting>().await;
    }
    let pages = world.log.pages.lock().unwrap().clone();
    assert_eq!(pages, [1; 10]);
}

async fn fenced() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    *world.log.thief.lock().unwrap() = Some(Arc::clone(&world.store));
    let (code, text) = world.stops::<Every>().await;
    assert_eq!(code, "lease-lost");
    assert!(text.contains("`every`"), "{text}");
    assert_eq!(world.log.take().len(), 1);
    assert_eq!(world.told::<Every>().await.len(), 1);
}

async fn whole_document() {
    let world = World::new(config());
    world.told::<Every>().await;
    world
        .things
        .create(r#"{"id": "a", "key": "k", "v": 1, "deep": {"x": [1, 2]}}"#)
        .unwrap();
    let told = world.told::<Every>().await;
    let now = told[0].current.as_ref().unwrap();
    assert_eq!(now["deep"], json!({"x": [1, 2]}));
    for property in ["_rid", "_etag", "_ts"] {
        assert!(!now[property].is_null(), "{property}");
    }
}

async fn same_again() {
    let world = World::new(config());
    world.create("a", "k");
    world.told::<Latest>().await;
    world.replace("a", "k", 1);
    assert_eq!(
        versions(&world.told::<Latest>().await),
        [("upsert", "a", 1)]
    );
}

async fn latest_once() {
    let world = World::new(config());
    world.told::<Latest>().await;
    world.create("a", "k");
    world.create("b", "k");
    world.replace("a", "k", 2);
    let told = world.told::<Latest>().await;
    assert_eq!(versions(&told), [("upsert", "b", 1), ("upsert", "a", 2)]);
}

async fn latest_hard_delete() {
    let world = World::new(config());
    world.create("a", "k");
    assert_eq!(world.told::<Latest>().await.len(), 1);
    world.delete("a", "k");
    assert!(world.told::<Latest>().await.is_empty());
}

async fn latest_gone() {
    let world = World::new(config());
    world.told::<Latest>().await;
    world.create("a", "k");
    world.delete("a", "k");
    world.create("b", "k");
    assert_eq!(
        versions(&world.told::<Latest>().await),
        [("upsert", "b", 1)]
    );
}

async fn soft_delete() {
    let world = World::new(config());
    world.create("a", "k");
    world.told::<Soft>().await;
    world
        .things
        .replace(r#"{"id": "a", "key": "k", "deleted": true}"#)
        .unwrap();
    let told = world.told::<Soft>().await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].operation, Operation::Delete);
    assert_eq!(told[0].delete, Some(DeleteKind::Soft));
}

async fn every_write() {
    let world = World::new(config().previous_images());
    world.told::<Every>().await;
    world.create("a", "k");
    world.replace("a", "k", 2);
    world.replace("a", "k", 3);
    world.delete("a", "k");
    let told = world.told::<Every>().await;
    assert_eq!(
        versions(&told),
        [
            ("create", "a", 1),
            ("replace", "a", 2),
            ("replace", "a", 3),
            ("delete", "a", 0)
        ]
    );
    let previous: Vec<Option<u64>> = told
        .iter()
        .map(|told| {
            told.previous
                .as_ref()
                .map(|before| before["v"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(previous, [None, Some(1), Some(2), Some(3)]);
    assert!(told[3].current.is_none());
}

async fn every_gone() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    world.delete("a", "k");
    let told = world.told::<Every>().await;
    assert_eq!(versions(&told), [("create", "a", 1), ("delete", "a", 0)]);
}

async fn no_previous() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    world.replace("a", "k", 2);
    world.delete("a", "k");
    let told = world.told::<Every>().await;
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|told| told.previous.is_none()));
}

async fn delete_is_bare() {
    let world = World::new(config());
    world.create("a", "k");
    world.told::<Every>().await;
    world.delete("a", "k");
    let [told] = &world.told::<Every>().await[..] else {
        panic!("one delete is one change");
    };
    assert_eq!((told.id.as_str(), told.key.as_str()), ("a", "[\"k\"]"));
    assert!(told.current.is_none() && told.previous.is_none());
    assert_eq!(told.delete, Some(DeleteKind::Hard));
}

async fn expired() {
    let world = World::new(config().default_ttl(-1));
    world.told::<Every>().await;
    world
        .things
        .create(r#"{"id": "a", "key": "k", "v": 1, "ttl": 5}"#)
        .unwrap();
    world.create("b", "k");
    assert_eq!(world.told::<Every>().await.len(), 2);
    world.clock.advance(Duration::from_secs(6));
    let told = world.told::<Every>().await;
    assert_eq!(versions(&told), [("delete", "a", 0)]);
    assert_eq!(told[0].delete, Some(DeleteKind::Expired));
}

async fn now_is_anchored() {
    for def in [def::<Every>(), def::<Latest>()] {
        let world = World::new(config());
        world.create("old", "k");
        let ready = world.prepare(def, Some(Start::Now), 3).await.unwrap();
        world.create("new", "k");
        let running = ready.start(Until::EndOfFeed { attempts: 1 });
        assert!(running.finished().await.failed.is_empty());
        let told = world.log.take();
        let ids: Vec<_> = told.iter().map(|told| told.id.as_str()).collect();
        assert_eq!(ids, ["new"], "{}", def.spec.name);
    }
}

async fn now_sees_nothing_old() {
    let world = World::new(config());
    world.create("old", "k");
    assert!(world.told::<Every>().await.is_empty());
}

async fn beginning() {
    let world = World::new(config());
    world.create("a", "k");
    world.create("b", "l");
    assert_eq!(world.told::<Latest>().await.len(), 2);
}

async fn time() {
    let world = World::new(config());
    world.create("before", "k");
    world.clock.advance(Duration::from_secs(10));
    let then = Start::At(world.clock.now().as_second());
    world.create("then", "k");
    world.clock.advance(Duration::from_secs(10));
    world.create("later", "k");
    let ready = world.prepare(def::<Latest>(), Some(then), 3).await.unwrap();
    ready
        .start(Until::EndOfFeed { attempts: 1 })
        .finished()
        .await;
    let told = world.log.take();
    assert_eq!(
        versions(&told),
        [("upsert", "then", 1), ("upsert", "later", 1)]
    );
}

async fn checkpoint_wins() {
    let world = World::new(config());
    world.create("a", "k");
    assert_eq!(world.told::<Latest>().await.len(), 1);
    let again = world.prepare(def::<Latest>(), None, 3).await.unwrap();
    assert!(again.notices().is_empty(), "the same option is no news");
    world.create("b", "k");
    let ready = world
        .prepare(def::<Latest>(), Some(Start::Now), 3)
        .await
        .unwrap();
    let notices = ready.notices().join("\n");
    for part in ["latest", "start = now", "ignored", "start = beginning"] {
        assert!(notices.contains(part), "{part}: {notices}");
    }
    ready
        .start(Until::EndOfFeed { attempts: 1 })
        .finished()
        .await;
    assert_eq!(versions(&world.log.take()), [("upsert", "b", 1)]);
}

async fn no_beginning() {
    let world = World::new(config());
    for start in [Start::Beginning, Start::At(1_800_000_000)] {
        let refused = world.prepare(def::<Every>(), Some(start), 3).await;
        let problems = refused.unwrap_err();
        let problem = &problems.0[0];
        assert_eq!(problem.code, "start-not-possible");
        assert!(problem.message.contains("every") && problem.message.contains("`log`"));
        assert!(problem.help.contains("start = now"), "{}", problem.help);
    }
    assert!(world.store.checkpoints().await.unwrap().is_empty());
}

async fn no_retention() {
    for config in [
        CollectionConfig::new("/key"),
        CollectionConfig::new("/key").retention(Duration::ZERO),
    ] {
        let (code, text) = World::new(config).stops::<Every>().await;
        assert_eq!(code, "no-retention");
        assert!(
            text.contains("`things`") && text.contains("retention = "),
            "{text}"
        );
    }
}

async fn names() {
    let world = World::new(config());
    world.create("a", "k");
    assert_eq!(world.told::<Latest>().await.len(), 1);
    assert_eq!(world.told::<Other>().await.len(), 1);
    world.create("b", "k");
    assert_eq!(versions(&world.told::<Other>().await), [("upsert", "b", 1)]);
    assert_eq!(
        versions(&world.told::<Latest>().await),
        [("upsert", "b", 1)]
    );
}

async fn retention_exceeded() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    world.clock.advance(Duration::from_hours(2));
    let (code, text) = world.stops::<Every>().await;
    assert_eq!(code, "retention-exceeded");
    assert!(
        text.contains("`every`") && text.contains("new name"),
        "{text}"
    );
    assert!(world.log.take().is_empty());
}

async fn recreated() {
    let world = World::new(config());
    world.told::<Every>().await;
    let first = world.things.rid().to_owned();
    let World { store, log, .. } = world;
    let world = World {
        store,
        log,
        ..World::seeded(2, config())
    };
    let second = world.things.rid().to_owned();
    assert_ne!(first, second);
    let (code, text) = world.stops::<Every>().await;
    assert_eq!(code, "collection-recreated");
    assert!(text.contains(&first) && text.contains(&second), "{text}");
}

async fn shortened() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("emulator.journal");
    let world = World::on_disk(dir.path(), config());
    world.create("a", "k");
    let copy = fs::read(&journal).unwrap();
    world.create("b", "k");
    assert_eq!(world.told::<Latest>().await.len(), 2);
    let World {
        store, log, things, ..
    } = world;
    // The last one to hold the journal's lock.
    drop(things);
    fs::write(&journal, copy).unwrap();
    let world = World {
        store,
        log,
        ..World::on_disk(dir.path(), config())
    };
    let (code, text) = world.stops::<Latest>().await;
    assert_eq!(code, "beyond-end");
    assert!(text.contains("journal"), "{text}");
}

async fn switched() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    let (code, text) = world.stops::<Switched>().await;
    assert_eq!(code, "mode-changed");
    assert!(text.contains("`every`") && text.contains("name"), "{text}");
    assert!(world.log.take().is_empty());
    assert_eq!(world.told::<Every>().await.len(), 1, "nothing was lost");
}
