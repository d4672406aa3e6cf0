//! Which collection and which mode a checkpoint belongs to (P1).

use std::fs;

use super::hooks::{Every, Latest, Switched};
use super::world::{World, config};

pub(super) async fn recreated() {
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

pub(super) async fn shortened() {
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

pub(super) async fn switched() {
    let world = World::new(config());
    world.told::<Every>().await;
    world.create("a", "k");
    let (code, text) = world.stops::<Switched>().await;
    assert_eq!(code, "mode-changed");
    assert!(text.contains("`every`") && text.contains("name"), "{text}");
    assert!(world.log.take().is_empty());
    assert_eq!(world.told::<Every>().await.len(), 1, "nothing was lost");
}
