//! The feed through the official SDK, against a gateway of the emulator in this process.

mod counted;
mod injected;
mod unreadable;

use std::sync::Arc;
use std::time::Duration;

use projectionist::change::{Operation, RawChange};
use projectionist::needs::Mode;
use projectionist_emulator::gateway::{Gateway, GatewayOptions, Switches, WELL_KNOWN_KEY};
use projectionist_emulator::{Collection, CollectionConfig, Emulator, Options, PartitionKey};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::account::Account;
use super::{CosmosFeed, Target};
use crate::clock::{Clock as _, SystemClock};
use crate::config::{self, Auth, Secret};
use crate::feed::{Feed as _, FeedError, FeedPage, From, Read};
use crate::position::{Bounds, Position};

const WEEK: Duration = Duration::from_hours(7 * 24);

struct World {
    emulator: Emulator,
    gateway: Gateway,
}

impl World {
    async fn new(setup: CollectionConfig, options: GatewayOptions) -> Self {
        let clock = Arc::new(|| SystemClock.now());
        let emulator = Emulator::in_memory(Options::new(clock).seed(7));
        Self::over(emulator, setup, options).await
    }

    async fn over(emulator: Emulator, setup: CollectionConfig, options: GatewayOptions) -> Self {
        emulator.create_database("shop").unwrap();
        emulator
            .create_in("shop", "users", setup, serde_json::Map::new())
            .unwrap();
        Self::serve(emulator, options).await
    }

    async fn serve(emulator: Emulator, options: GatewayOptions) -> Self {
        let gateway = Gateway::start(emulator.clone(), options).await.unwrap();
        Self { emulator, gateway }
    }

    async fn of(setup: CollectionConfig) -> Self {
        Self::new(setup, GatewayOptions::new(0)).await
    }

    fn collection(&self) -> Arc<Collection> {
        self.emulator.collection_in("shop", "users").unwrap()
    }

    fn settings(&self, key: &str) -> config::Account {
        config::Account {
            endpoint: self.gateway.url().to_owned(),
            auth: Auth::Key,
            key: Some(Secret::new(key.to_owned())),
            ..Default::default()
        }
    }

    fn account(&self, key: &str) -> Arc<Account> {
        Arc::new(Account::new(self.settings(key)))
    }

    fn target(container: &str) -> Target {
        Target {
            collection: "people".to_owned(),
            account: "main".to_owned(),
            database: "shop".to_owned(),
            container: container.to_owned(),
        }
    }

    async fn connect(&self, container: &str, history: bool) -> Result<CosmosFeed, FeedError> {
        let account = self.account(WELL_KNOWN_KEY);
        CosmosFeed::connect(
            account,
            Self::target(container),
            history,
            Arc::new(SystemClock),
        )
        .await
    }

    async fn feed(&self) -> CosmosFeed {
        self.connect("users", true).await.unwrap()
    }

    fn put(&self, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            let body =
                json!({"id": format!("u{number}"), "tenant": format!("t{number}"), "n": number});
            self.collection().upsert(body.to_string()).unwrap();
        }
    }
}

/// Tells the gateway what is to go wrong.
async fn control(world: &World, what: &str, body: &Value) {
    let body = body.to_string();
    let request = format!(
        "POST /_control/{what} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let address = ("127.0.0.1", world.gateway.port());
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

async fn troubled() -> World {
    let mut options = GatewayOptions::new(0);
    options.control = true;
    let setup = CollectionConfig::new("/tenant").ranges(2).retention(WEEK);
    World::new(setup, options).await
}

#[tokio::test]
async fn throttling_is_waited_out_in_place() {
    let world = troubled().await;
    world.put(0..20);
    let feed = world.feed().await;
    control(
        &world,
        "throttle",
        &json!({"requests": 5, "retryAfterMs": 1}),
    )
    .await;
    let (found, _) = drain(&feed, &whole(), Mode::LatestVersion, From::Beginning).await;
    assert_eq!(sorted(found), (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_page_that_is_too_large_is_halved_until_it_fits_and_grows_back() {
    let world = troubled().await;
    world.put(0..300);
    let feed = world.feed().await;
    let ranges = feed.ranges().await.unwrap();
    let bounds = &ranges[0].bounds;
    let plan = json!({"rate": 1.0, "status": [413], "limit": 3});
    control(&world, "faults", &plan).await;
    let mut from = From::Beginning;
    let mut sizes = Vec::new();
    let mut found = Vec::new();
    loop {
        let page = read(&feed, bounds, Mode::LatestVersion, from, 16)
            .await
            .unwrap();
        sizes.push(page.changes.len());
        found.extend(page.changes.iter().map(number));
        if page.caught_up {
            break;
        }
        from = From::Position(page.position);
    }
    // 16, 8 and 4 were too many.
    assert_eq!(sizes[..8], [2; 8]);
    assert_eq!(sizes[8..16], [4; 8]);
    assert_eq!(sizes[16..18], [8, 8], "{sizes:?}");
    let all = drain(&feed, bounds, Mode::LatestVersion, From::Beginning).await;
    assert_eq!(found, all.0);
}

#[tokio::test]
async fn after_any_error_reading_goes_on_from_the_last_position() {
    for mode in [Mode::LatestVersion, Mode::AllVersionsAndDeletes] {
        let world = troubled().await;
        let feed = world.feed().await;
        let mut from = From::Position(
            read(&feed, &whole(), mode, From::Now, 3)
                .await
                .unwrap()
                .position,
        );
        world.put(0..60);
        let plan = json!({"rate": 0.95, "seed": 11, "status": [408, 410, 429, 449, 500, 503], "limit": 600});
        control(&world, "faults", &plan).await;
        let mut failures = 0;
        let mut found = Vec::new();
        loop {
            match read(&feed, &whole(), mode, from.clone(), 3).await {
                Ok(page) => {
                    found.extend(page.changes.iter().map(number));
                    from = From::Position(page.position);
                    if page.caught_up {
                        break;
                    }
                }
                Err(FeedError::Unavailable { .. }) => failures += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(sorted(found), (0..60).collect::<Vec<_>>(), "{mode}");
        assert!(failures > 0, "the SDK absorbed them all");
    }
}

fn whole() -> Bounds {
    Bounds {
        min: String::new(),
        max: "FF".to_owned(),
    }
}

async fn read(
    feed: &CosmosFeed,
    bounds: &Bounds,
    mode: Mode,
    from: From,
    max_items: u32,
) -> Result<FeedPage, FeedError> {
    feed.read(Read {
        bounds,
        mode,
        from,
        max_items,
    })
    .await
}

/// Reads to the end; the numbers of the documents, in order of arrival, and where it ended.
async fn drain(
    feed: &CosmosFeed,
    bounds: &Bounds,
    mode: Mode,
    mut from: From,
) -> (Vec<u64>, Position) {
    let mut numbers = Vec::new();
    loop {
        let page = read(feed, bounds, mode, from, 7).await.unwrap();
        numbers.extend(page.changes.iter().map(number));
        if page.caught_up {
            return (numbers, page.position);
        }
        from = From::Position(page.position);
    }
}

fn number(change: &RawChange) -> u64 {
    let body: Value = change.current.as_ref().unwrap().decode().unwrap();
    body["n"].as_u64().unwrap()
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn pages_follow_on_each_other_and_a_position_survives_its_reader() {
    let world = World::of(CollectionConfig::new("/tenant").ranges(3)).await;
    world.put(0..40);
    let feed = world.feed().await;
    assert_eq!(feed.source().path(), "main/shop/users");
    assert_eq!(feed.source().rid, world.collection().rid());
    let ranges = feed.ranges().await.unwrap();
    assert_eq!(ranges.len(), 3);
    let mut all = Vec::new();
    for range in &ranges {
        let page = read(
            &feed,
            &range.bounds,
            Mode::LatestVersion,
            From::Beginning,
            3,
        )
        .await
        .unwrap();
        assert_eq!(page.changes.len(), 3);
        let change = &page.changes[0];
        assert_eq!(change.operation, Operation::Upsert);
        assert_eq!(change.id, format!("u{}", number(change)));
        assert_eq!(change.partition_key, format!("[\"t{}\"]", number(change)));
        assert!(change.etag.is_some() && change.sequence.is_some());
        assert!(change.timestamp.as_second() > 0);
        all.extend(page.changes.iter().map(number));
        // Another process goes on from there.
        let other = world.feed().await;
        let (rest, end) = drain(
            &other,
            &range.bounds,
            Mode::LatestVersion,
            From::Position(page.position),
        )
        .await;
        all.extend(rest);
        let idle = other
            .backlog(&range.bounds, Mode::LatestVersion, &end)
            .await;
        assert_eq!(idle.unwrap(), Some(0));
        assert!(other.newest(&range.bounds).await.unwrap() > 0);
    }
    assert_eq!(sorted(all), (0..40).collect::<Vec<_>>());
    // Over several physical ranges an empty answer of one is not the end.
    let (all, _) = drain(&feed, &whole(), Mode::LatestVersion, From::Beginning).await;
    assert_eq!(sorted(all), (0..40).collect::<Vec<_>>());
}

#[tokio::test]
async fn p12_now_passes_nothing_over_though_ranges_split_behind_it() {
    for mode in [Mode::LatestVersion, Mode::AllVersionsAndDeletes] {
        let world = World::of(CollectionConfig::new("/tenant").ranges(2).retention(WEEK)).await;
        world.put(0..10);
        let feed = world.feed().await;
        // The listing that the SDK keeps is stale from here on.
        let range = &world.collection().ranges()[0];
        world.collection().split(&range.id).unwrap();
        let pinned = read(&feed, &whole(), mode, From::Now, 5).await.unwrap();
        assert!(pinned.changes.is_empty() && pinned.caught_up);
        world.put(100..140);
        for range in world.collection().ranges() {
            world.collection().split(&range.id).unwrap();
        }
        world.put(200..240);
        // As after a restart.
        let feed = world.feed().await;
        let from = From::Position(pinned.position);
        let (found, _) = drain(&feed, &whole(), mode, from).await;
        let expected: Vec<_> = (100..140).chain(200..240).collect();
        assert_eq!(sorted(found), expected, "{mode}");
    }
}

#[tokio::test]
async fn a_split_is_read_through_and_told_and_children_go_on_from_the_parents_position() {
    let world = World::of(CollectionConfig::new("/tenant").retention(WEEK)).await;
    let feed = world.feed().await;
    let mode = Mode::AllVersionsAndDeletes;
    let pinned = read(&feed, &whole(), mode, From::Now, 5).await.unwrap();
    world.put(0..5);
    let first = read(&feed, &whole(), mode, From::Position(pinned.position), 2)
        .await
        .unwrap();
    assert!(!first.range_changed);
    world.collection().split("0").unwrap();
    world.put(5..30);
    let second = read(
        &feed,
        &whole(),
        mode,
        From::Position(first.position.clone()),
        2,
    )
    .await
    .unwrap();
    assert!(second.range_changed, "{second:?}");
    let mut found: Vec<_> = first.changes.iter().map(number).collect();
    for range in feed.ranges().await.unwrap() {
        let from = From::Position(first.position.clone());
        found.extend(drain(&feed, &range.bounds, mode, from).await.0);
    }
    assert_eq!(sorted(found), (0..30).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_merge_ends_an_all_versions_reader_and_not_one_of_latest_versions() {
    let world = World::of(CollectionConfig::new("/tenant").ranges(2).retention(WEEK)).await;
    let feed = world.feed().await;
    world.put(0..20);
    let ranges = feed.ranges().await.unwrap();
    let mut positions = Vec::new();
    for range in &ranges {
        let bounds = &range.bounds;
        let pinned = read(&feed, bounds, Mode::AllVersionsAndDeletes, From::Now, 5).await;
        let latest = read(&feed, bounds, Mode::LatestVersion, From::Beginning, 2).await;
        positions.push((pinned.unwrap().position, latest.unwrap()));
    }
    let ids: Vec<_> = world
        .collection()
        .ranges()
        .into_iter()
        .map(|range| range.id)
        .collect();
    world.collection().merge([&ids[0], &ids[1]]).unwrap();
    world.put(20..40);
    let mut found = Vec::new();
    for (range, (pinned, latest)) in ranges.iter().zip(positions) {
        let from = From::Position(pinned);
        let merged = read(&feed, &range.bounds, Mode::AllVersionsAndDeletes, from, 5).await;
        assert!(
            matches!(merged, Err(FeedError::Merged { .. })),
            "{merged:?}"
        );
        found.extend(latest.changes.iter().map(number));
        let from = From::Position(latest.position);
        let rest = drain(&feed, &range.bounds, Mode::LatestVersion, from).await;
        found.extend(rest.0);
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found, (0..40).collect::<Vec<_>>());
}

#[tokio::test]
async fn every_version_and_delete_arrives_whatever_form_the_service_gives_it() {
    for (array_keys, empty_current, previous_images) in [
        (false, false, false),
        (true, true, true),
        (false, true, true),
    ] {
        let mut options = GatewayOptions::new(0);
        options.switches = Switches {
            array_keys,
            empty_current,
            ..Switches::default()
        };
        let mut setup =
            CollectionConfig::hierarchical(["/tenant", "/address/city"]).retention(WEEK);
        setup.previous_images = previous_images;
        let world = World::new(setup, options).await;
        let feed = world.feed().await;
        let mode = Mode::AllVersionsAndDeletes;
        let pinned = read(&feed, &whole(), mode, From::Now, 5).await.unwrap();
        let users = world.collection();
        let body = |n: u32| {
            json!({"id": "a", "tenant": 7.0, "address": {"city": "Ulm"}, "n": n}).to_string()
        };
        users.create(body(1)).unwrap();
        users.replace(body(2)).unwrap();
        let key = PartitionKey::from_json("[7, \"Ulm\"]").unwrap();
        users.delete("a", &key).unwrap();
        let page = read(&feed, &whole(), mode, From::Position(pinned.position), 10)
            .await
            .unwrap();
        let operations: Vec<_> = page.changes.iter().map(|change| change.operation).collect();
        assert_eq!(
            operations,
            [Operation::Create, Operation::Replace, Operation::Delete]
        );
        for change in &page.changes {
            assert_eq!(change.id, "a");
            assert_eq!(change.partition_key, "[7,\"Ulm\"]");
            assert!(!change.expired);
        }
        let deleted = &page.changes[2];
        assert!(deleted.current.is_none() && deleted.etag.is_none());
        assert_eq!(deleted.previous.is_some(), previous_images);
    }
}

#[tokio::test]
async fn what_is_not_there_and_what_was_recreated_are_told_apart() {
    let world = World::of(CollectionConfig::new("/tenant").retention(WEEK)).await;
    let missing = world.connect("nobody", false).await.unwrap_err();
    assert_eq!(
        missing.to_string(),
        "collection `people` is not there: there is no container `main/shop/nobody`"
    );
    let feed = world.feed().await;
    world.put(0..3);
    let page = read(&feed, &whole(), Mode::LatestVersion, From::Beginning, 2)
        .await
        .unwrap();
    let before = world.collection().rid().to_owned();
    world.emulator.delete_in("shop", "users").unwrap();
    let from = || From::Position(page.position.clone());
    let deleted = read(&feed, &whole(), Mode::LatestVersion, from(), 2).await;
    assert!(
        matches!(deleted, Err(FeedError::Deleted { .. })),
        "{deleted:?}"
    );
    world
        .emulator
        .create_in(
            "shop",
            "users",
            CollectionConfig::new("/tenant"),
            serde_json::Map::new(),
        )
        .unwrap();
    let recreated = read(&feed, &whole(), Mode::LatestVersion, from(), 2).await;
    match recreated {
        Err(FeedError::Recreated {
            expected, found, ..
        }) => {
            assert_eq!(expected, before);
            assert_eq!(found, world.collection().rid());
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_wrong_key_is_denied() {
    let world = World::of(CollectionConfig::new("/tenant")).await;
    let target = Target {
        collection: "people".to_owned(),
        account: "main".to_owned(),
        database: "shop".to_owned(),
        container: "users".to_owned(),
    };
    let account = world.account("d3Jvbmc=");
    let denied = CosmosFeed::connect(account, target, false, Arc::new(SystemClock)).await;
    let denied = denied.unwrap_err();
    assert!(matches!(denied, FeedError::Denied { .. }), "{denied:?}");
    assert!(!format!("{denied:?}").contains("d3Jvbmc="));
}

#[tokio::test]
async fn a_collection_without_history_says_so() {
    let world = World::of(CollectionConfig::new("/tenant")).await;
    let feed = world.feed().await;
    assert_eq!(feed.retention(), None);
    let mode = Mode::AllVersionsAndDeletes;
    let refused = read(&feed, &whole(), mode, From::Now, 5).await;
    assert!(
        matches!(refused, Err(FeedError::NoRetention { .. })),
        "{refused:?}"
    );
    let world = World::of(CollectionConfig::new("/tenant").retention(WEEK)).await;
    assert_eq!(world.feed().await.retention(), Some(WEEK));
}

#[tokio::test]
async fn positions_of_elsewhere_are_refused() {
    let world = World::of(CollectionConfig::new("/tenant").retention(WEEK)).await;
    world.put(0..3);
    let feed = world.feed().await;
    let latest = read(&feed, &whole(), Mode::LatestVersion, From::Beginning, 2)
        .await
        .unwrap();
    for (mode, position) in [
        (Mode::LatestVersion, Position::new("17")),
        (Mode::AllVersionsAndDeletes, latest.position),
    ] {
        let refused = read(&feed, &whole(), mode, From::Position(position), 5).await;
        assert!(
            matches!(refused, Err(FeedError::BadPosition { .. })),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_collection_that_became_shorter_is_told() {
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |dir: &TempDir| {
        let clock = Arc::new(|| SystemClock.now());
        Emulator::open(dir.path(), Options::new(clock)).unwrap()
    };
    let setup = CollectionConfig::new("/tenant").retention(WEEK);
    let world = World::over(open(&dir), setup, GatewayOptions::new(0)).await;
    world.put(0..3);
    let journal = "emulator.journal";
    std::fs::copy(dir.path().join(journal), copy.path().join(journal)).unwrap();
    world.put(3..20);
    let feed = world.feed().await;
    let mut positions = Vec::new();
    for mode in [Mode::LatestVersion, Mode::AllVersionsAndDeletes] {
        let pinned = read(&feed, &whole(), mode, From::Now, 5).await.unwrap();
        positions.push((mode, pinned.position));
    }
    let world = World::serve(open(&copy), GatewayOptions::new(0)).await;
    let feed = world.feed().await;
    for (mode, position) in positions {
        let refused = read(&feed, &whole(), mode, From::Position(position), 5).await;
        assert!(
            matches!(refused, Err(FeedError::BeyondEnd { end: 3, .. })),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_split_that_was_merged_back_is_a_merge() {
    let world = World::of(CollectionConfig::new("/tenant").retention(WEEK)).await;
    let feed = world.feed().await;
    world.put(0..20);
    let mode = Mode::AllVersionsAndDeletes;
    let pinned = read(&feed, &whole(), mode, From::Now, 5).await.unwrap();
    let parent = world.collection().ranges()[0].id.clone();
    world.collection().split(&parent).unwrap();
    let ranges = world.collection().ranges();
    world
        .collection()
        .merge([&ranges[0].id, &ranges[1].id])
        .unwrap();
    world.put(20..40);
    let from = From::Position(pinned.position);
    let merged = read(&feed, &whole(), mode, from, 5).await;
    assert!(
        matches!(merged, Err(FeedError::Merged { .. })),
        "the ranges look as they did: {merged:?}"
    );
}
