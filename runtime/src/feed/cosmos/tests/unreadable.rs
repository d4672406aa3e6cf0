//! Documents that the SDK cannot decode: each is passed over as a letter, and alone (I1, P26).

use super::*;
use crate::engine::{Engine, Until};
use crate::letters::LetterFilter;

/// The text is good JSON, and the SDK's decoder takes the name for one of its own.
fn put_unreadable(world: &World, id: &str) {
    let body = json!({"id": id, "tenant": "t1", "deep": {"$serde_json::private::RawValue": 5}});
    world.collection().upsert(body.to_string()).unwrap();
}

async fn world() -> World {
    World::of(CollectionConfig::new("/tenant").retention(WEEK)).await
}

#[tokio::test]
async fn a_document_that_cannot_be_read_comes_alone_and_the_others_all_the_same() {
    for mode in [Mode::LatestVersion, Mode::AllVersionsAndDeletes] {
        let world = world().await;
        let feed = world.feed().await;
        let pinned = read(&feed, &whole(), mode, From::Now, 25).await.unwrap();
        world.put(0..40);
        put_unreadable(&world, "first");
        world.put(40..60);
        put_unreadable(&world, "second");
        let (mut numbers, mut unreadable) = (Vec::new(), Vec::new());
        let mut from = From::Position(pinned.position);
        loop {
            let page = read(&feed, &whole(), mode, from, 25).await.unwrap();
            if let Some(error) = &page.unreadable {
                assert!(page.changes.is_empty(), "{page:?}");
                unreadable.push((numbers.len(), error.clone()));
            }
            numbers.extend(page.changes.iter().map(number));
            if page.caught_up {
                break;
            }
            from = From::Position(page.position);
        }
        assert_eq!(numbers, (0..60).collect::<Vec<_>>(), "{mode:?}");
        let places: Vec<_> = unreadable.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [40, 60], "{unreadable:?}");
        assert!(
            unreadable[0].1.contains("expected raw value"),
            "the decoder says why: {unreadable:?}"
        );
    }
}

#[tokio::test]
async fn where_nothing_can_be_read_it_is_not_passed_over_for_ever() {
    let world = world().await;
    let feed = world.feed().await;
    world.put(0..1);
    for number in 0..12 {
        put_unreadable(&world, &format!("bad {number}"));
    }
    world.put(1..3);
    let mut from = From::Beginning;
    let mut passed = 0;
    let refused = loop {
        match read(&feed, &whole(), Mode::LatestVersion, from, 100).await {
            Ok(page) => {
                passed += usize::from(page.unreadable.is_some());
                from = From::Position(page.position);
            }
            Err(error) => break error,
        }
    };
    assert_eq!(passed, 10);
    assert!(!refused.is_terminal(), "it may be mended");
    assert_eq!(
        refused.to_string(),
        "range -FF of collection `people`: 10 changes in a row could not be read and became dead letters; no more are passed over"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_becomes_a_letter_that_says_where_it_lies() {
    let world = world().await;
    let dir = tempfile::tempdir().unwrap();
    let store = counted::store(&dir).await;
    let setup = counted::setup(world.feed().await, &store, 25);
    let running = Engine::prepare(setup).await.unwrap().start(Until::Stopped);
    running.caught_up().await;
    world.put(0..20);
    put_unreadable(&world, "bad");
    world.put(20..40);
    put_unreadable(&world, "bad");
    running.caught_up().await;
    running.stop();
    let summary = running.finished().await;
    assert!(summary.failed.is_empty(), "{:?}", summary.failed);
    assert_eq!(summary.letters, 2);
    let rows = counted::number(&store, "select count(distinct id) from counted").await;
    assert_eq!(rows, 40);
    let letters = store.letters(&LetterFilter::default()).await.unwrap();
    assert_eq!(letters.len(), 2, "each is its own: {letters:?}");
    for letter in &letters {
        let content = &letter.content;
        assert_eq!(content.document_id, "");
        assert_eq!(content.body, None);
        assert_eq!(
            content.errors[0],
            "a change of range -FF cannot be read, nor its document's id"
        );
        assert!(
            content.errors[1].contains("expected raw value"),
            "{:?}",
            content.errors
        );
        assert!(content.etag.is_some(), "the position behind it");
    }
}
