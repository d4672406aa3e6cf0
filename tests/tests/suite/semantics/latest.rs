//! Latest versions.

use projectionist::prelude::*;

use super::hooks::{Latest, Soft};
use super::rows::versions;
use super::world::{World, config};

pub(super) async fn latest_once() {
    let world = World::new(config());
    world.told::<Latest>().await;
    world.create("a", "k");
    world.create("b", "k");
    world.replace("a", "k", 2);
    let told = world.told::<Latest>().await;
    assert_eq!(versions(&told), [("upsert", "b", 1), ("upsert", "a", 2)]);
}

pub(super) async fn latest_hard_delete() {
    let world = World::new(config());
    world.create("a", "k");
    assert_eq!(world.told::<Latest>().await.len(), 1);
    world.delete("a", "k");
    assert!(world.told::<Latest>().await.is_empty());
}

pub(super) async fn latest_gone() {
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

pub(super) async fn soft_delete() {
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
