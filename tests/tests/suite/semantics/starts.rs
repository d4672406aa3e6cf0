//! Where reading begins.

use std::time::Duration;

use projectionist::projection::Start;
use projectionist_runtime::clock::Clock as _;
use projectionist_runtime::engine::Until;

use super::hooks::{Every, Latest, def};
use super::rows::versions;
use super::world::{World, config};

pub(super) async fn now_is_anchored() {
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

pub(super) async fn now_sees_nothing_old() {
    let world = World::new(config());
    world.create("old", "k");
    assert!(world.told::<Every>().await.is_empty());
}

pub(super) async fn beginning() {
    let world = World::new(config());
    world.create("a", "k");
    world.create("b", "l");
    assert_eq!(world.told::<Latest>().await.len(), 2);
}

pub(super) async fn time() {
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

pub(super) async fn checkpoint_wins() {
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

pub(super) async fn no_beginning() {
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
