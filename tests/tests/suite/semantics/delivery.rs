//! What holds in both modes: order, delivery, the body.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use projectionist::sql::Value as SqlValue;
use projectionist_runtime::store::sqlite::{OpenOptions, SqliteStore};
use serde_json::json;

use super::hooks::{Counting, Every, Latest, Ledger, Other, Told};
use super::rows::versions;
use super::world::{World, config};

pub(super) async fn order() {
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

pub(super) async fn failing_first_page() {
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

pub(super) async fn exactly_once() {
    let dir = tempfile::tempdir().unwrap();
    let create = OpenOptions {
        create: true,
        ..OpenOptions::default()
    };
    let store = SqliteStore::open(dir.path().join("projector.db"), create).await;
    let world = World {
        store: Arc::new(store.unwrap()),
        ..World::new(config())
    };
    for id in ["a", "b", "c"] {
        world.create(id, "k");
    }
    let rows = async || {
        world
            .store
            .query("select id, times from ledger")
            .await
            .unwrap()
            .rows
    };
    world.log.fails.store(true, Ordering::SeqCst);
    let (code, _) = world.stops::<Ledger>().await;
    assert_eq!(code, "gave-up");
    assert_eq!(world.log.take().len(), 3, "the last one failed");
    assert!(rows().await.is_empty());
    world.log.fails.store(false, Ordering::SeqCst);
    assert_eq!(world.told::<Ledger>().await.len(), 3);
    let once = |id: &str| vec![SqlValue::Text(id.to_owned()), SqlValue::Integer(1)];
    assert_eq!(rows().await, ["a", "b", "c"].map(once));
}

pub(super) async fn no_empty_batch() {
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

pub(super) async fn fenced() {
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

pub(super) async fn whole_document() {
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

pub(super) async fn same_again() {
    let world = World::new(config());
    world.create("a", "k");
    world.told::<Latest>().await;
    world.replace("a", "k", 1);
    assert_eq!(
        versions(&world.told::<Latest>().await),
        [("upsert", "a", 1)]
    );
}

pub(super) async fn names() {
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
