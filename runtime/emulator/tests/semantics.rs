//! What the feed promises, one row a statement: a script of writes, one read, what it shows.
#![expect(clippy::unwrap_used, reason = "what a test unwraps is what it asserts")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use projectionist_emulator::{
    Collection, CollectionConfig, Emulator, FeedError, FeedItem, FeedPage, FeedRequest, From, Mode,
    Operation, Options, Write,
};
use serde_json::Value;

const START: i64 = 1_700_000_000;

/// A clock that stands until it is moved.
#[derive(Clone)]
struct Clock(Arc<AtomicI64>);

impl Clock {
    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(START)))
    }

    fn tick(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn options(&self) -> Options {
        let now = Arc::clone(&self.0);
        Options::new(Arc::new(move || {
            Timestamp::from_second(now.load(Ordering::SeqCst)).unwrap()
        }))
        .sync(false)
    }
}

enum Step {
    Create(&'static str),
    Replace(&'static str),
    Upsert(&'static str),
    Delete(&'static str),
    Tick(i64),
}
use Step::{Create, Delete, Replace, Tick, Upsert};

fn write(collection: &Collection, step: &Step, clock: &Clock) {
    // A document in short: "id" or "id more fields".
    let body = |short: &str| {
        let (id, more) = short.split_once(' ').unwrap_or((short, ""));
        let comma = if more.is_empty() { "" } else { "," };
        format!(r#"{{"id":"{id}","pk":"p"{comma}{more}}}"#)
    };
    match step {
        Create(short) => drop(collection.create(body(short)).unwrap()),
        Replace(short) => drop(collection.replace(body(short)).unwrap()),
        Upsert(short) => drop(collection.upsert(body(short)).unwrap()),
        Delete(id) => drop(collection.delete(id, &"p".into()).unwrap()),
        Tick(seconds) => clock.tick(*seconds),
    }
}

fn read(
    collection: &Collection,
    mode: Mode,
    from: From,
    max_items: u32,
) -> Result<FeedPage, FeedError> {
    collection.read_feed(&FeedRequest {
        min: String::new(),
        max: "FF".to_owned(),
        mode,
        from,
        max_items,
    })
}

/// A change in short: `lsn operation id`, then `n` now and before, where there is one.
fn shown(item: &FeedItem) -> String {
    let field = |body: &Option<bytes::Bytes>| {
        let body: Value = serde_json::from_slice(body.as_ref()?).unwrap();
        body.get("n").map(ToString::to_string)
    };
    let operation = match item.operation {
        Operation::Upsert => "upsert",
        Operation::Create => "create",
        Operation::Replace => "replace",
        Operation::Delete => "delete",
    };
    let mut text = format!("{} {operation} {}", item.lsn, item.id);
    if item.expired {
        text.push_str(" expired");
    }
    if let Some(n) = field(&item.current) {
        write!(text, " n={n}").expect("text takes text");
    }
    if let Some(n) = field(&item.previous) {
        write!(text, " was={n}").expect("text takes text");
    }
    if let Some(lsn) = item.previous_lsn {
        write!(text, " after {lsn}").expect("text takes text");
    }
    text
}

struct Row {
    says: &'static str,
    config: fn(CollectionConfig) -> CollectionConfig,
    steps: &'static [Step],
    mode: Mode,
    from: From,
    shows: &'static [&'static str],
}

const PLAIN: fn(CollectionConfig) -> CollectionConfig = |config| config;
const KEPT: fn(CollectionConfig) -> CollectionConfig =
    |config| config.retention(Duration::from_mins(1));
const LATEST: Mode = Mode::LatestVersion;
const ALL: Mode = Mode::AllVersions;

fn time(seconds: i64) -> From {
    From::Time(Timestamp::from_second(START + seconds).unwrap())
}

#[expect(
    clippy::too_many_lines,
    reason = "a table has a row for each statement"
)]
fn table() -> Vec<Row> {
    let row = |says, config, steps, mode, from, shows| Row {
        says,
        config,
        steps,
        mode,
        from,
        shows,
    };
    vec![
        row(
            "latest version: created then replaced between two reads comes once, with the replace",
            PLAIN,
            &[Create(r#"1 "n":1"#), Replace(r#"1 "n":2"#)],
            LATEST,
            From::Beginning,
            &["2 upsert 1 n=2"],
        ),
        row(
            "latest version: a hard delete does not come at all",
            PLAIN,
            &[Create("1"), Create("2"), Delete("1")],
            LATEST,
            From::After(2),
            &[],
        ),
        row(
            "latest version: created and deleted between two reads does not come at all",
            PLAIN,
            &[Create("1"), Delete("1")],
            LATEST,
            From::Beginning,
            &[],
        ),
        row(
            "latest version: a soft delete is a write like any other",
            PLAIN,
            &[Create(r#"1 "n":1"#), Replace(r#"1 "n":2,"deleted":true"#)],
            LATEST,
            From::After(1),
            &["2 upsert 1 n=2"],
        ),
        row(
            "latest version: order is that of the newest versions",
            PLAIN,
            &[Create("1"), Create("2"), Create("3"), Upsert("1")],
            LATEST,
            From::Beginning,
            &["2 upsert 2", "3 upsert 3", "4 upsert 1"],
        ),
        row(
            "latest version: an expired document does not come",
            |config| config.default_ttl(10),
            &[Create("1"), Tick(5), Create("2"), Tick(5)],
            LATEST,
            From::Beginning,
            &["2 upsert 2"],
        ),
        row(
            "latest version: deleted and created again comes as the new document",
            PLAIN,
            &[Create(r#"1 "n":1"#), Delete("1"), Create(r#"1 "n":2"#)],
            LATEST,
            From::Beginning,
            &["3 upsert 1 n=2"],
        ),
        row(
            "latest version from a time: what was written in a later second",
            PLAIN,
            &[Create("1"), Tick(1), Create("2"), Tick(1), Create("3")],
            LATEST,
            time(0),
            &["2 upsert 2", "3 upsert 3"],
        ),
        row(
            "latest version from a time: a replace counts by its own time",
            PLAIN,
            &[Create("1"), Create("2"), Tick(9), Upsert("1")],
            LATEST,
            time(5),
            &["3 upsert 1"],
        ),
        row(
            "latest version from now: nothing that is there",
            PLAIN,
            &[Create("1")],
            LATEST,
            From::Now,
            &[],
        ),
        row(
            "all versions: every write with its operation; an upsert is a create or a replace",
            KEPT,
            &[Upsert(r#"1 "n":1"#), Upsert(r#"1 "n":2"#), Delete("1")],
            ALL,
            From::After(0),
            &[
                "1 create 1 n=1",
                "2 replace 1 n=2 after 1",
                "3 delete 1 after 2",
            ],
        ),
        row(
            "all versions: previous images only where the collection retains them, none on a create",
            |config| KEPT(config).previous_images(),
            &[
                Create(r#"1 "n":1"#),
                Replace(r#"1 "n":2"#),
                Delete("1"),
                Create(r#"1 "n":3"#),
            ],
            ALL,
            From::After(0),
            &[
                "1 create 1 n=1",
                "2 replace 1 n=2 was=1 after 1",
                "3 delete 1 was=2 after 2",
                "4 create 1 n=3",
            ],
        ),
        row(
            "all versions: expiry is a delete that says so, with its own sequence number",
            |config| KEPT(config).default_ttl(-1),
            &[
                Create(r#"1 "ttl":10"#),
                Create(r#"2 "ttl":-1"#),
                Create("3"),
                Tick(10),
            ],
            ALL,
            From::After(2),
            &["3 create 3", "4 delete 1 expired after 1"],
        ),
        row(
            "all versions: what has expired stands in nobody's way, and its delete comes first",
            |config| KEPT(config).default_ttl(10),
            &[Create(r#"1 "n":1"#), Tick(10), Create(r#"1 "n":2"#)],
            ALL,
            From::After(1),
            &["2 delete 1 expired after 1", "3 create 1 n=2"],
        ),
        row(
            "a document's own time to live is ignored where the collection has none",
            KEPT,
            &[Create(r#"1 "ttl":1"#), Tick(30)],
            ALL,
            From::After(0),
            &["1 create 1"],
        ),
        row(
            "a write starts the time to live anew",
            |config| KEPT(config).default_ttl(10),
            &[Create("1"), Tick(9), Replace("1"), Tick(9)],
            ALL,
            From::After(0),
            &["1 create 1", "2 replace 1 after 1"],
        ),
        row(
            "all versions from now: nothing that is there",
            KEPT,
            &[Create("1")],
            ALL,
            From::Now,
            &[],
        ),
        row(
            "all versions: the whole retention window is there, its last second included",
            KEPT,
            &[Create("1"), Tick(60), Create("2")],
            ALL,
            From::After(0),
            &["1 create 1", "2 create 2"],
        ),
    ]
}

#[test]
fn what_the_feed_promises() {
    for row in table() {
        let clock = Clock::new();
        let emulator = Emulator::in_memory(clock.options());
        let config = (row.config)(CollectionConfig::new("/pk"));
        let collection = emulator.create_collection("c", config).unwrap();
        for step in row.steps {
            write(&collection, step, &clock);
        }
        let page = read(&collection, row.mode, row.from, 100).unwrap();
        let shows: Vec<String> = page.items.iter().map(shown).collect();
        assert_eq!(shows, row.shows, "{}", row.says);
        assert!(page.caught_up, "{}", row.says);
        assert_eq!(page.continuation, collection.end("", "FF").unwrap());

        // Read one change at a time, the feed is the same.
        let (mut from, mut single) = (row.from, Vec::new());
        loop {
            let page = read(&collection, row.mode, from, 1).unwrap();
            assert!(page.items.len() <= 1);
            single.extend(page.items.iter().map(shown));
            from = From::After(page.continuation);
            if page.caught_up {
                break;
            }
        }
        assert_eq!(single, row.shows, "{}", row.says);
    }
}

#[test]
fn what_the_feed_refuses() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let plain = emulator
        .create_collection("plain", CollectionConfig::new("/pk"))
        .unwrap();
    let zero = CollectionConfig::new("/pk").retention(Duration::ZERO);
    let zero = emulator.create_collection("zero", zero).unwrap();
    for collection in [plain, zero] {
        let error = read(&collection, ALL, From::Now, 1).unwrap_err();
        assert!(matches!(error, FeedError::NoRetention { .. }), "{error}");
    }

    let kept = KEPT(CollectionConfig::new("/pk"));
    let kept = emulator.create_collection("kept", kept).unwrap();
    for from in [From::Beginning, time(0)] {
        let error = read(&kept, ALL, from, 1).unwrap_err();
        assert!(matches!(error, FeedError::Start { .. }), "{error}");
    }
    for step in [Create("1"), Create("2"), Tick(61), Create("3")] {
        write(&kept, &step, &clock);
    }
    let error = read(&kept, ALL, From::After(1), 1).unwrap_err();
    let FeedError::RetentionExceeded { after, oldest, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((after, oldest), (1, 2));
    let page = read(&kept, ALL, From::After(2), 9).unwrap();
    assert_eq!(
        page.items.iter().map(shown).collect::<Vec<_>>(),
        ["3 create 3"]
    );
    // The window passes by the clock alone, without a write.
    clock.tick(61);
    let error = read(&kept, ALL, From::After(2), 1).unwrap_err();
    assert!(
        matches!(error, FeedError::RetentionExceeded { oldest: 3, .. }),
        "{error}"
    );
    assert!(
        read(&kept, ALL, From::After(3), 1)
            .unwrap()
            .items
            .is_empty()
    );
    assert_eq!(
        read(&kept, LATEST, From::After(1), 9).unwrap().items.len(),
        2
    );

    for mode in [LATEST, ALL] {
        let error = read(&kept, mode, From::After(4), 1).unwrap_err();
        assert!(
            matches!(
                error,
                FeedError::BeyondEnd {
                    after: 4,
                    end: 3,
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn a_key_range_is_read_inside_one_physical_range() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let config = KEPT(CollectionConfig::new("/pk").ranges(4));
    let collection = emulator.create_collection("c", config).unwrap();
    for id in 0..200 {
        let body = format!(r#"{{"id":"{id}","pk":"key {}"}}"#, id % 50);
        collection.create(body).unwrap();
    }
    let ask = |min: &str, max: &str, mode| {
        collection.read_feed(&FeedRequest {
            min: min.to_owned(),
            max: max.to_owned(),
            mode,
            from: From::After(0),
            max_items: 1000,
        })
    };
    for mode in [LATEST, ALL] {
        let mut all = 0;
        for range in collection.ranges() {
            let whole = ask(&range.min, &range.max, mode).unwrap();
            let lsns: Vec<u64> = whole.items.iter().map(|item| item.lsn).collect();
            let expected: Vec<u64> = (1..=lsns.len() as u64).collect();
            assert_eq!(lsns, expected, "each range counts from 1");
            all += lsns.len();

            let low = u8::from_str_radix(range.min.get(..2).unwrap_or("00"), 16).unwrap();
            let middle = format!("{:02X}", low + 8);
            let lower = ask(&range.min, &middle, mode).unwrap();
            let upper = ask(&middle, &range.max, mode).unwrap();
            assert_eq!(lower.items.len() + upper.items.len(), lsns.len());
            assert!(!lower.items.is_empty() && !upper.items.is_empty());
            assert_eq!(lower.continuation, whole.continuation);
        }
        assert_eq!(all, 200);
        for (min, max) in [("", "FF"), ("08", "18"), ("FF", "FF"), ("18", "08")] {
            let error = ask(min, max, mode).unwrap_err();
            assert!(
                matches!(error, FeedError::Gone { .. }),
                "{min} {max}: {error}"
            );
        }
        assert!(matches!(
            ask("no", "FF", mode),
            Err(FeedError::Bounds { .. })
        ));
    }
}

#[test]
fn documents_carry_what_the_service_adds() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let collection = emulator
        .create_collection("c", CollectionConfig::new("/pk"))
        .unwrap();
    let created = collection.create(r#"{"id":"1","n":1.50}"#).unwrap();
    let body = |page: &FeedPage| page.items[0].current.clone().unwrap();
    let first = read(&collection, LATEST, From::Beginning, 1).unwrap();
    let text = String::from_utf8(body(&first).to_vec()).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(text.starts_with(r#"{"id":"1","n":1.50,"_rid":""#), "{text}");
    assert_eq!(value["_ts"], START);
    assert_eq!(value["_etag"].as_str(), created.etag.as_deref());
    assert_eq!(first.items[0].etag.as_deref(), created.etag.as_deref());
    assert_eq!(first.items[0].partition_key, "[{}]");
    assert_eq!(first.items[0].timestamp.as_second(), START);

    clock.tick(1);
    let replaced = collection.upsert(r#"{"id":"1","n":2}"#).unwrap();
    assert_eq!(replaced.operation, Operation::Replace);
    let second = read(&collection, LATEST, From::Beginning, 1).unwrap();
    let newer: Value = serde_json::from_slice(&body(&second)).unwrap();
    assert_eq!(newer["_rid"], value["_rid"]);
    assert_eq!(newer["_self"], value["_self"]);
    assert_ne!(newer["_etag"], value["_etag"]);
    assert_eq!(newer["_ts"], START + 1);
}

#[test]
fn writes_are_refused_as_the_service_refuses_them() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let config = CollectionConfig::new("/pk").default_ttl(5);
    let collection = emulator.create_collection("c", config).unwrap();
    collection.create(r#"{"id":"1","pk":5}"#).unwrap();
    let status = |result: Result<_, projectionist_emulator::DocumentError>| {
        result.map(drop).unwrap_err().status()
    };
    assert_eq!(status(collection.create(r#"{"id":"1","pk":5.0}"#)), 409);
    assert_eq!(status(collection.replace(r#"{"id":"1","pk":6}"#)), 404);
    assert_eq!(status(collection.delete("1", &"5".into())), 404);
    assert_eq!(status(collection.create(r#"{"id":"2","ttl":0}"#)), 400);
    assert_eq!(status(collection.create("[]")), 400);
    collection.create(r#"{"id":"1","pk":"5"}"#).unwrap();
    assert_eq!(
        collection.count(),
        2,
        "an id is unique inside its partition only"
    );

    // Expired means gone for every reader and writer before anything purged it.
    clock.tick(5);
    assert_eq!(collection.count(), 0);
    assert_eq!(collection.read("1", &"5".into()).unwrap_err().status(), 404);
    assert_eq!(status(collection.replace(r#"{"id":"1","pk":5}"#)), 404);
    collection.create(r#"{"id":"1","pk":5}"#).unwrap();
    assert_eq!(collection.count(), 1);
}

#[test]
fn a_group_is_written_whole_or_not_at_all() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let collection = emulator
        .create_collection("c", KEPT(CollectionConfig::new("/pk")))
        .unwrap();
    let create = |id: &str| Write::Create(format!(r#"{{"id":"{id}","pk":"p"}}"#).into());
    let delete = |id: &str| Write::Delete {
        id: id.to_owned(),
        partition_key: "p".into(),
    };
    let error = collection
        .write_many([create("1"), create("2"), create("1")])
        .unwrap_err();
    assert_eq!((error.index, error.source.status()), (2, 409));
    assert_eq!(
        (collection.count(), collection.end("", "FF").unwrap()),
        (0, 0)
    );

    collection
        .write_many([create("1"), delete("1"), create("1"), create("2")])
        .unwrap();
    let page = read(&collection, ALL, From::After(0), 9).unwrap();
    assert_eq!(
        page.items.iter().map(shown).collect::<Vec<_>>(),
        [
            "1 create 1",
            "2 delete 1 after 1",
            "3 create 1",
            "4 create 2"
        ]
    );
}

#[test]
fn everything_is_there_after_reopening() {
    let clock = Clock::new();
    let dir = tempfile::tempdir().unwrap();
    let config = KEPT(CollectionConfig::new("/pk"))
        .previous_images()
        .default_ttl(-1);
    let steps = [
        Create(r#"1 "n":1"#),
        Replace(r#"1 "n":2"#),
        Create(r#"2 "ttl":5"#),
        Create("3"),
        Tick(5),
        Delete("3"),
        Create("4"),
    ];
    let look = |collection: &Collection| {
        let all = read(collection, ALL, From::After(0), 100).unwrap();
        let latest = read(collection, LATEST, From::Beginning, 100).unwrap();
        let bodies: Vec<_> = latest
            .items
            .iter()
            .map(|item| item.current.clone())
            .collect();
        let all: Vec<String> = all.items.iter().map(shown).collect();
        (all, bodies, collection.rid().to_owned(), collection.count())
    };
    let before = {
        let emulator = Emulator::open(dir.path(), clock.options()).unwrap();
        let collection = emulator.create_collection("c", config.clone()).unwrap();
        for step in &steps {
            write(&collection, step, &clock);
        }
        look(&collection)
    };
    assert!(Emulator::exists(dir.path()));
    let emulator = Emulator::open(dir.path(), clock.options()).unwrap();
    let collection = emulator.create_collection("c", config.clone()).unwrap();
    assert_eq!(look(&collection), before);
    assert_eq!(before.0.len(), 7);

    // Etags are not repeated by the next process under the same clock and seed.
    let etag = collection.upsert(r#"{"id":"5","pk":"p"}"#).unwrap().etag;
    let all = read(&collection, LATEST, From::Beginning, 100).unwrap();
    let same = all
        .items
        .iter()
        .filter(|item| item.etag.as_deref() == etag.as_deref());
    assert_eq!(same.count(), 1);
}

#[test]
fn set_up_may_change_where_it_can() {
    let clock = Clock::new();
    let dir = tempfile::tempdir().unwrap();
    let config = CollectionConfig::new("/pk").ranges(2);
    let emulator = Emulator::open(dir.path(), clock.options()).unwrap();
    let collection = emulator.create_collection("c", config.clone()).unwrap();
    collection.create(r#"{"id":"1","pk":"p","ttl":5}"#).unwrap();
    for (other, says) in [
        (
            CollectionConfig::new("/other").ranges(2),
            "partition key /pk in its journal, but /other",
        ),
        (config.clone().ranges(3), "ranges = 2 in its journal, but 3"),
    ] {
        let error = emulator
            .create_collection("c", other)
            .unwrap_err()
            .to_string();
        assert!(error.contains(says), "{error}");
    }
    let changed = KEPT(config.clone()).default_ttl(-1);
    emulator.create_collection("c", changed.clone()).unwrap();
    assert_eq!(collection.config(), changed);
    drop((collection, emulator));

    let emulator = Emulator::open(dir.path(), clock.options()).unwrap();
    let collection = emulator.collection("c").unwrap();
    assert_eq!(collection.config(), changed);
    clock.tick(5);
    assert_eq!(
        collection.count(),
        0,
        "the time to live counts from the change on"
    );
    let error = emulator.collection("d").unwrap_err().to_string();
    assert_eq!(error, "there is no collection \"d\"; there are: c");
}

#[test]
fn a_second_owner_is_told_who_the_first_is() {
    let clock = Clock::new();
    let dir = tempfile::tempdir().unwrap();
    let first = Emulator::open(dir.path(), clock.options().program("run")).unwrap();
    let error = Emulator::open(dir.path(), clock.options())
        .unwrap_err()
        .to_string();
    let owner = format!(
        "process {} (run, since 2023-11-14T22:13:20Z)",
        std::process::id()
    );
    assert!(error.contains(&owner), "{error}");
    drop(first);
    Emulator::open(dir.path(), clock.options()).unwrap();
}

#[tokio::test]
async fn a_reader_is_woken_by_what_is_newer() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let collection = emulator
        .create_collection("c", CollectionConfig::new("/pk"))
        .unwrap();
    collection.create(r#"{"id":"1"}"#).unwrap();
    collection.changed("", "FF", 0).await.unwrap();
    let waiting = tokio::spawn(collection.changed("", "FF", 1));
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    collection
        .delete("1", &projectionist_emulator::PartitionKey::undefined())
        .unwrap();
    waiting.await.unwrap().unwrap();
    let error = collection.changed("FF", "FF", 0).await.unwrap_err();
    assert!(matches!(error, FeedError::Gone { .. }));
    let waiting = tokio::spawn(collection.changed("", "FF", 2));
    drop((collection, emulator));
    assert!(waiting.await.unwrap().is_ok());
}

/// A window that was off for a while takes no history with it, unless something was written meanwhile.
#[test]
fn history_outlives_a_window_that_is_off_for_a_while() {
    let clock = Clock::new();
    let emulator = Emulator::in_memory(clock.options());
    let plain = CollectionConfig::new("/pk");
    let kept = KEPT(plain.clone());
    let make = |config: &CollectionConfig| emulator.create_collection("c", config.clone()).unwrap();
    let collection = make(&kept);
    write(&collection, &Create("1"), &clock);
    make(&plain);
    assert!(read(&collection, ALL, From::After(0), 9).is_err());
    make(&kept);
    assert_eq!(
        read(&collection, ALL, From::After(0), 9)
            .unwrap()
            .items
            .len(),
        1
    );
    // Who does not own the settings compares and leaves alone.
    let looked = emulator.ensure_collection("c", plain.clone()).unwrap();
    assert_eq!(looked.config(), kept);

    make(&plain);
    write(&collection, &Create("2"), &clock);
    make(&kept);
    write(&collection, &Create("3"), &clock);
    let error = read(&collection, ALL, From::After(1), 9).unwrap_err();
    assert!(
        matches!(error, FeedError::RetentionExceeded { oldest: 2, .. }),
        "{error}"
    );
    assert_eq!(
        read(&collection, ALL, From::After(2), 9)
            .unwrap()
            .items
            .len(),
        1
    );
}
