//! All versions and deletes.

use std::time::Duration;

use projectionist::prelude::*;
use projectionist_emulator::CollectionConfig;

use super::hooks::Every;
use super::rows::versions;
use super::world::{World, config};

pub(super) async fn every_write() {
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

pub(super) async fn every_gone() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    world.delete("a", "k");
    let told = world.told::<Every>().await;
    assert_eq!(versions(&told), [("create", "a", 1), ("delete", "a", 0)]);
}

pub(super) async fn no_previous() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    world.replace("a", "k", 2);
    world.delete("a", "k");
    let told = world.told::<Every>().await;
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|told| told.previous.is_none()));
}

pub(super) async fn delete_is_bare() {
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

pub(super) async fn expired() {
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

pub(super) async fn no_retention() {
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

pub(super) async fn retention_exceeded() {
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
