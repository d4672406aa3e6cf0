//! Random scripts against a model that is too simple to be wrong, with reopening in between, and
//! many writers beside a reader. A failure prints its seed.
#![expect(clippy::unwrap_used, reason = "what a test unwraps is what it asserts")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use projectionist_emulator::{
    Collection, CollectionConfig, Emulator, FeedItem, FeedRequest, From, Mode, Operation, Options,
    PartitionKey, Write,
};

const KEYS: u64 = 6;
const IDS: u64 = 5;
const TTL: i64 = 20;
const WINDOW: i64 = 50;

/// A document: its key and its id.
type Name = (String, String);

/// A change of the model: which document, operation, `n`, `n` before, expired, when.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    name: Name,
    operation: Operation,
    now: Option<u64>,
    before: Option<u64>,
    expired: bool,
    ts: i64,
}

#[derive(Default)]
struct Model {
    /// `n` and the time of its write.
    living: HashMap<Name, (u64, i64)>,
    log: Vec<Change>,
}

impl Model {
    fn put(&mut self, name: &Name, n: u64, ts: i64) {
        let old = self.living.insert(name.clone(), (n, ts));
        self.log.push(Change {
            name: name.clone(),
            operation: if old.is_some() {
                Operation::Replace
            } else {
                Operation::Create
            },
            now: Some(n),
            before: old.map(|(n, _)| n),
            expired: false,
            ts,
        });
    }

    fn delete(&mut self, name: &Name, ts: i64, expired: bool) -> bool {
        let Some((n, _)) = self.living.remove(name) else {
            return false;
        };
        self.log.push(Change {
            name: name.clone(),
            operation: Operation::Delete,
            now: None,
            before: Some(n),
            expired,
            ts,
        });
        true
    }

    fn expire(&mut self, now: i64) {
        let mut due: Vec<Name> = self
            .living
            .iter()
            .filter(|(_, (_, ts))| ts + TTL <= now)
            .map(|(name, _)| name.clone())
            .collect();
        due.sort();
        for name in due {
            self.delete(&name, now, true);
        }
    }
}

fn change(item: &FeedItem) -> Change {
    let n = |body: &Option<bytes::Bytes>| {
        let body: serde_json::Value = serde_json::from_slice(body.as_ref()?).unwrap();
        body["n"].as_u64()
    };
    Change {
        name: (item.partition_key.to_string(), item.id.to_string()),
        operation: item.operation,
        now: n(&item.current),
        before: n(&item.previous),
        expired: item.expired,
        ts: item.timestamp.as_second(),
    }
}

fn read(collection: &Collection, mode: Mode, start: From, max_items: u32) -> Vec<Change> {
    let mut changes = Vec::new();
    for range in collection.ranges() {
        let mut from = start;
        let mut last = 0;
        loop {
            let page = collection
                .read_feed(&FeedRequest {
                    min: range.min.clone(),
                    max: range.max.clone(),
                    mode,
                    from,
                    max_items,
                })
                .unwrap();
            for item in &page.items {
                assert!(item.lsn > last);
                last = item.lsn;
                changes.push(change(item));
            }
            from = From::After(page.continuation);
            if page.caught_up {
                break;
            }
        }
    }
    changes
}

/// Changes by document, in order: what order the model and the emulator must agree on.
fn by_document(changes: impl IntoIterator<Item = Change>) -> HashMap<Name, Vec<Change>> {
    let mut all: HashMap<Name, Vec<Change>> = HashMap::new();
    for change in changes {
        all.entry(change.name.clone()).or_default().push(change);
    }
    all
}

fn script(seed: u64) {
    println!("SEED={seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let clock = Arc::new(AtomicI64::new(1_000));
    let now = Arc::clone(&clock);
    let options = Options::new(Arc::new(move || {
        Timestamp::from_second(now.load(Ordering::SeqCst)).unwrap()
    }))
    .sync(false);
    let config = CollectionConfig::new("/pk")
        .ranges(rng.u32(1..5))
        .default_ttl(i32::try_from(TTL).unwrap())
        .retention(Duration::from_secs(WINDOW.unsigned_abs()))
        .previous_images();
    let dir = tempfile::tempdir().unwrap();
    let mut emulator = Emulator::open(dir.path(), options.clone()).unwrap();
    let mut collection = emulator.create_collection("c", config).unwrap();
    let mut model = Model::default();

    for n in 0..300 {
        let ts = clock.load(Ordering::SeqCst);
        let key = format!("k{}", rng.u64(..KEYS));
        let id = rng.u64(..IDS).to_string();
        let name = (format!("[\"{key}\"]"), id.clone());
        let body = format!(r#"{{"id":"{id}","pk":"{key}","n":{n}}}"#);
        model.expire(ts);
        let existed = model.living.contains_key(&name);
        match rng.u32(..10) {
            0..4 => {
                collection.upsert(body).unwrap();
                model.put(&name, n, ts);
            }
            4 => {
                assert_eq!(collection.create(body).is_ok(), !existed);
                if !existed {
                    model.put(&name, n, ts);
                }
            }
            5 => {
                assert_eq!(collection.replace(body).is_ok(), existed);
                if existed {
                    model.put(&name, n, ts);
                }
            }
            6 => {
                let key = PartitionKey::string(key);
                assert_eq!(collection.delete(&id, &key).is_ok(), existed);
                assert_eq!(model.delete(&name, ts, false), existed);
            }
            7 => drop(clock.fetch_add(rng.i64(0..8), Ordering::SeqCst)),
            8 => {
                let writes = [
                    Write::Upsert(body.clone().into()),
                    Write::Upsert(body.into()),
                ];
                collection.write_many(writes).unwrap();
                model.put(&name, n, ts);
                model.put(&name, n, ts);
            }
            _ => {
                drop((collection, emulator));
                emulator = Emulator::open(dir.path(), options.clone()).unwrap();
                collection = emulator.collection("c").unwrap();
                // The model purges before each step, the emulator before each that matters.
                collection.purge().unwrap();
            }
        }
        collection.purge().unwrap();
        model.expire(clock.load(Ordering::SeqCst));
    }

    let ts = clock.load(Ordering::SeqCst);
    compare(&collection, model, ts, &mut rng);
}

fn compare(collection: &Collection, model: Model, ts: i64, rng: &mut fastrand::Rng) {
    assert_eq!(collection.count(), model.living.len() as u64);
    let latest = read(
        collection,
        Mode::LatestVersion,
        From::Beginning,
        rng.u32(1..9),
    );
    let found: HashMap<Name, (u64, i64)> = latest
        .iter()
        .map(|change| (change.name.clone(), (change.now.unwrap(), change.ts)))
        .collect();
    assert_eq!(latest.len(), found.len(), "each document once");
    assert_eq!(found, model.living);
    let since = ts - rng.i64(0..TTL);
    let time = From::Time(Timestamp::from_second(since).unwrap());
    let recent = read(collection, Mode::LatestVersion, time, 7).len();
    let expected = model.living.values().filter(|(_, ts)| *ts > since).count();
    assert_eq!(recent, expected);

    // The window begins at a sequence number of each range's own: read on from there.
    let retained = model
        .log
        .into_iter()
        .filter(|change| change.ts >= ts - WINDOW);
    let mut all = Vec::new();
    for range in collection.ranges() {
        let request = |after, max_items| FeedRequest {
            min: range.min.clone(),
            max: range.max.clone(),
            mode: Mode::AllVersions,
            from: From::After(after),
            max_items,
        };
        let oldest = match collection.read_feed(&request(0, 1)) {
            Ok(_) => 0,
            Err(projectionist_emulator::FeedError::RetentionExceeded { oldest, .. }) => oldest,
            Err(error) => panic!("{error}"),
        };
        let page = collection.read_feed(&request(oldest, 10_000)).unwrap();
        for (at, item) in page.items.iter().enumerate() {
            assert_eq!(
                item.lsn,
                oldest + 1 + at as u64,
                "no sequence number is missing"
            );
            all.push(change(item));
        }
    }
    assert_eq!(by_document(all), by_document(retained));
}

#[test]
fn random_scripts_agree_with_the_model() {
    for seed in 0..40 {
        script(seed);
    }
}

#[test]
fn a_reader_beside_many_writers_misses_nothing() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 500;
    let options = Options::new(Arc::new(|| Timestamp::UNIX_EPOCH));
    let emulator = Emulator::in_memory(options);
    let config = CollectionConfig::new("/pk").retention(Duration::from_mins(1));
    let collection = emulator.create_collection("c", config).unwrap();
    let seen = std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let collection = &collection;
            scope.spawn(move || {
                for n in 0..EACH {
                    let body = format!(r#"{{"id":"{writer}","pk":"{writer}","n":{n}}}"#);
                    collection.upsert(body).unwrap();
                }
            });
        }
        let mut seen = Vec::new();
        let mut after = 0;
        while after < WRITERS * EACH {
            let page = collection
                .read_feed(&FeedRequest {
                    min: String::new(),
                    max: "FF".to_owned(),
                    mode: Mode::AllVersions,
                    from: From::After(after),
                    max_items: 7,
                })
                .unwrap();
            after = page.continuation;
            seen.extend(page.items.into_iter().map(|item| item.lsn));
        }
        seen
    });
    assert_eq!(seen, (1..=WRITERS * EACH).collect::<Vec<_>>());
}
