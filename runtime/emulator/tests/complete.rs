//! What goes beyond single writes and reads: hierarchical keys, preconditions, patches, batches, splits, merges,
//! databases, and compaction.
#![expect(clippy::unwrap_used, reason = "what a test unwraps is what it asserts")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use projectionist_emulator::{
    Collection, CollectionConfig, Condition, DocumentError, Emulator, EmulatorError, FeedError,
    FeedItem, FeedPage, FeedRequest, From, Mode, Numbering, Operation, Options, PartitionKey,
    PatchOperation, Range, Step, Write,
};

fn options() -> Options {
    Options::new(Arc::new(|| Timestamp::from_second(1_000).unwrap())).sync(false)
}

fn emulator() -> Emulator {
    Emulator::in_memory(options())
}

fn history() -> CollectionConfig {
    CollectionConfig::new("/pk").retention(Duration::from_hours(1))
}

fn read(
    collection: &Collection,
    range: &Range,
    mode: Mode,
    from: From,
) -> Result<FeedPage, FeedError> {
    page(collection, &range.min, &range.max, mode, from, 1000)
}

fn page(
    collection: &Collection,
    min: &str,
    max: &str,
    mode: Mode,
    from: From,
    max_items: u32,
) -> Result<FeedPage, FeedError> {
    collection.read_feed(&FeedRequest {
        min: min.to_owned(),
        max: max.to_owned(),
        mode,
        from,
        max_items,
    })
}

fn ids(page: &FeedPage) -> Vec<String> {
    page.items.iter().map(|item| item.id.to_string()).collect()
}

fn step(write: Write) -> Step {
    write.into()
}

fn document(pk: u32, id: &str, n: u64) -> String {
    format!(r#"{{"id":"{id}","pk":"{pk}","n":{n}}}"#)
}

fn text(item: &FeedItem) -> String {
    String::from_utf8(item.current.clone().unwrap().to_vec()).unwrap()
}

#[test]
fn hierarchical_keys_name_documents_and_prefixes_hold_them() {
    let emulator = emulator();
    let config = CollectionConfig::hierarchical(["/tenant", "/user/name"]);
    let orders = emulator.create_collection("orders", config).unwrap();
    for (id, tenant, user) in [("1", "a", "x"), ("1", "a", "y"), ("1", "b", "x")] {
        let body = format!(r#"{{"id":"{id}","tenant":"{tenant}","user":{{"name":"{user}"}}}}"#);
        orders.create(body).unwrap();
    }
    orders.create(r#"{"id":"1","tenant":"a"}"#).unwrap();
    assert_eq!(orders.count(), 4);
    let key = |text: &str| PartitionKey::from_json(text).unwrap();
    assert!(orders.read("1", &key(r#"["a","y"]"#)).is_ok());
    assert!(orders.read("1", &key(r#"["a",{}]"#)).is_ok());
    assert!(matches!(
        orders.read("1", &key(r#"["b","y"]"#)),
        Err(DocumentError::NotFound { .. })
    ));
    let short = orders.read("1", &key(r#"["a"]"#)).unwrap_err();
    assert_eq!(
        short.to_string(),
        r#"the partition key ["a"] has 1 values, the collection has 2 partition key paths"#
    );
    orders.delete("1", &key(r#"["a","x"]"#)).unwrap();
    assert_eq!(orders.count(), 3);
}

#[test]
fn preconditions_are_kept() {
    let emulator = emulator();
    let items = emulator.create_collection("items", history()).unwrap();
    let etag = items.create(document(1, "a", 1)).unwrap().etag;
    let one = |step| {
        items
            .execute([step], Numbering::Each)
            .map_err(|error| error.source)
    };
    let stale = Step {
        if_match: Some("\"other\"".to_owned()),
        ..step(Write::Replace(document(1, "a", 2).into()))
    };
    assert_eq!(one(stale.clone()).unwrap_err().status(), 412);
    assert!(
        one(Step {
            if_match: etag.clone(),
            ..stale.clone()
        })
        .is_ok()
    );
    assert!(
        one(Step {
            if_match: Some("*".to_owned()),
            ..stale.clone()
        })
        .is_ok()
    );
    // An upsert that creates is not held to an etag: there is none to compare with.
    let upsert = Step {
        if_match: etag,
        ..step(Write::Upsert(document(1, "new", 1).into()))
    };
    assert!(one(upsert.clone()).is_ok());
    assert_eq!(one(upsert).unwrap_err().status(), 412);
    let only_new = Step {
        if_none_match: Some("*".to_owned()),
        ..step(Write::Upsert(document(1, "a", 3).into()))
    };
    assert_eq!(one(only_new).unwrap_err().status(), 412);
    let elsewhere = Step {
        partition_key: Some("2".into()),
        ..step(Write::Upsert(document(1, "a", 3).into()))
    };
    assert!(matches!(
        one(elsewhere),
        Err(DocumentError::KeyMismatch { .. })
    ));
    let gone = Step {
        if_match: Some("*".to_owned()),
        ..step(Write::Delete {
            id: "a".to_owned(),
            partition_key: "1".into(),
        })
    };
    assert!(one(gone.clone()).is_ok());
    assert_eq!(one(gone).unwrap_err().status(), 404);
}

#[test]
fn a_patch_arrives_as_the_whole_document() {
    let emulator = emulator();
    let items = emulator.create_collection("items", history()).unwrap();
    items
        .create(r#"{"id":"a","pk":"1","n":1.50,"keep":[1, 2]}"#)
        .unwrap();
    let patch = |operations, condition| Write::Patch {
        id: "a".to_owned(),
        partition_key: "1".into(),
        operations,
        condition,
    };
    let increment = PatchOperation::Increment {
        path: "/n".to_owned(),
        value: "1".to_owned(),
    };
    items.write(patch(vec![increment.clone()], None)).unwrap();
    let never = Condition::new(|_| false);
    let unmet = items
        .write(patch(vec![increment], Some(never)))
        .unwrap_err();
    assert_eq!(unmet.status(), 412);
    let rename = PatchOperation::Set {
        path: "/pk".to_owned(),
        value: "\"2\"".to_owned(),
    };
    assert_eq!(
        items.write(patch(vec![rename], None)).unwrap_err().status(),
        400
    );

    let range = &items.ranges()[0];
    let page = read(&items, range, Mode::AllVersions, From::After(0)).unwrap();
    let operations: Vec<_> = page.items.iter().map(|item| item.operation).collect();
    assert_eq!(operations, [Operation::Create, Operation::Replace]);
    assert!(text(&page.items[1]).starts_with(r#"{"id":"a","pk":"1","n":2.5,"keep":[1, 2],"_rid""#));
}

#[test]
fn a_batch_has_one_sequence_number_and_is_never_cut() {
    let emulator = emulator();
    let items = emulator
        .create_collection("items", history().previous_images())
        .unwrap();
    items.create(document(1, "before", 0)).unwrap();
    let batch = vec![
        step(Write::Create(document(1, "a", 1).into())),
        step(Write::Upsert(document(1, "a", 2).into())),
        step(Write::Create(document(1, "b", 1).into())),
        step(Write::Delete {
            id: "a".to_owned(),
            partition_key: "1".into(),
        }),
        step(Write::Read {
            id: "b".to_owned(),
            partition_key: "1".into(),
        }),
        step(Write::Create(document(1, "a", 3).into())),
    ];
    let done = items.execute(batch, Numbering::Shared).unwrap();
    assert!(done.iter().all(|done| done.written.lsn == 2));
    assert!(done[4].body.is_some());
    let range = &items.ranges()[0];
    let all = page(
        &items,
        &range.min,
        &range.max,
        Mode::AllVersions,
        From::After(0),
        2,
    )
    .unwrap();
    assert_eq!(ids(&all), ["before", "a", "a", "b", "a", "a"]);
    let previous: Vec<_> = all
        .items
        .iter()
        .map(|item| item.previous.is_some())
        .collect();
    assert_eq!(previous, [false, false, true, false, true, false]);
    let latest = read(&items, range, Mode::LatestVersion, From::Beginning).unwrap();
    assert_eq!(ids(&latest), ["before", "b", "a"]);
    assert!(text(&latest.items[2]).contains("\"n\":3"));

    let refused = vec![
        step(Write::Create(document(1, "c", 1).into())),
        step(Write::Create(document(1, "b", 1).into())),
    ];
    let error = items.execute(refused, Numbering::Shared).unwrap_err();
    assert_eq!((error.index, error.source.status()), (1, 409));
    assert_eq!(items.count(), 3);
}

#[test]
fn children_go_on_with_the_parents_numbers_and_history() {
    let emulator = emulator();
    let items = emulator.create_collection("items", history()).unwrap();
    for n in 0..40 {
        items.create(document(n, "a", 0)).unwrap();
    }
    let parent = items.ranges().remove(0);
    let half = page(
        &items,
        &parent.min,
        &parent.max,
        Mode::AllVersions,
        From::After(0),
        20,
    )
    .unwrap();
    let children = items.split("0").unwrap();
    assert_eq!(children[0].parents, ["0"]);
    assert_eq!(children[0].max, children[1].min);
    assert!(matches!(
        read(&items, &parent, Mode::LatestVersion, From::After(20)),
        Err(FeedError::Gone { .. })
    ));
    let grandchildren = items.split(&children[1].id).unwrap();
    assert_eq!(grandchildren[0].parents, ["0", &children[1].id]);
    assert!(items.split("0").is_err());

    for mode in [Mode::AllVersions, Mode::LatestVersion] {
        let mut rest = Vec::new();
        for range in items.ranges() {
            let from = From::After(half.continuation);
            rest.extend(read(&items, &range, mode, from).unwrap().items);
        }
        rest.sort_by_key(|item| item.lsn);
        let numbers: Vec<_> = rest.iter().map(|item| item.lsn).collect();
        assert_eq!(numbers, (21..=40).collect::<Vec<_>>(), "{mode:?}");
    }
    let written = items.create(document(1, "later", 0)).unwrap();
    assert_eq!(written.lsn, 41);
}

#[test]
fn a_merge_keeps_the_latest_versions_and_ends_history() {
    let emulator = emulator();
    let items = emulator
        .create_collection("items", history().ranges(2))
        .unwrap();
    for n in 0..30 {
        items.create(document(n, "a", 0)).unwrap();
    }
    let [left, right] = [items.ranges().remove(0), items.ranges().remove(1)];
    let before: HashMap<_, _> = [&left, &right]
        .map(|range| {
            let found = page(
                &items,
                &range.min,
                &range.max,
                Mode::LatestVersion,
                From::Beginning,
                5,
            );
            (range.id.clone(), found.unwrap())
        })
        .into();
    let merged = items.merge([&right.id, &left.id]).unwrap();
    assert_eq!((merged.min.as_str(), merged.max.as_str()), ("", "FF"));
    assert_eq!(merged.parents, ["0", "1"]);
    items.create(document(3, "later", 0)).unwrap();

    let mut seen = Vec::new();
    for range in [&left, &right] {
        let first = &before[&range.id];
        let from = From::After(first.continuation);
        let rest = read(&items, range, Mode::LatestVersion, from).unwrap();
        let keys = |page: &FeedPage| -> Vec<String> {
            page.items
                .iter()
                .map(|item| format!("{} {}", item.partition_key, item.id))
                .collect()
        };
        let (mut first, rest) = (keys(first), keys(&rest));
        assert!(rest.iter().all(|key| !first.contains(key)));
        first.extend(rest);
        seen.push(first.len());
        assert!(matches!(
            read(&items, range, Mode::AllVersions, from),
            Err(FeedError::Merged { .. })
        ));
    }
    assert_eq!(seen.iter().sum::<usize>(), 31);
    let now = read(&items, &merged, Mode::AllVersions, From::Now).unwrap();
    items.create(document(9, "after", 0)).unwrap();
    let after = From::After(now.continuation);
    assert_eq!(
        ids(&read(&items, &merged, Mode::AllVersions, after).unwrap()),
        ["after"]
    );
    assert!(items.merge(["0", "1"]).is_err());
}

#[test]
fn who_waits_on_a_range_is_woken_by_its_split() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let emulator = emulator();
        let items = emulator.create_collection("items", history()).unwrap();
        let waiting = items.changed("", "FF", 0);
        items.split("0").unwrap();
        waiting.await.unwrap();
    });
}

#[test]
fn databases_hold_collections_of_their_own() {
    let emulator = emulator();
    emulator.create_collection("items", history()).unwrap();
    emulator.create_database("shop").unwrap();
    assert!(matches!(
        emulator.create_database("shop"),
        Err(EmulatorError::DatabaseExists { .. })
    ));
    let create =
        |database: &str| emulator.create_in(database, "items", history(), serde_json::Map::new());
    let items = create("shop").unwrap();
    assert!(create("shop").is_err());
    assert!(create("none").is_err());
    items.create(document(1, "a", 1)).unwrap();
    assert_eq!(emulator.collection("items").unwrap().count(), 0);
    emulator.delete_in("shop", "items").unwrap();
    let again = create("shop").unwrap();
    assert_ne!(again.rid(), items.rid());
    assert_eq!(again.count(), 0);
    assert!(matches!(
        items.create(document(1, "a", 1)),
        Err(DocumentError::Dropped { .. })
    ));
    assert!(matches!(
        read(
            &items,
            &items.ranges()[0],
            Mode::LatestVersion,
            From::Beginning
        ),
        Err(FeedError::Dropped { .. })
    ));
    emulator.delete_database("shop").unwrap();
    assert!(again.create(document(1, "a", 1)).is_err());
    let names: Vec<_> = emulator
        .databases()
        .into_iter()
        .map(|info| info.name)
        .collect();
    assert_eq!(names, ["emulator"]);
}

/// Everything that can be read of a collection, to be compared.
fn everything(collection: &Collection) -> Vec<String> {
    let mut all = vec![format!("{:?}", collection.ranges())];
    for range in collection.ranges() {
        for mode in [Mode::LatestVersion, Mode::AllVersions] {
            let mut from = match mode {
                Mode::LatestVersion => From::Beginning,
                Mode::AllVersions => From::After(0),
            };
            // History begins where the feed says that it does.
            while let Err(error) = read(collection, &range, mode, from) {
                from = match error {
                    FeedError::RetentionExceeded { oldest, .. } => From::After(oldest),
                    FeedError::Merged { merged_at, .. } => From::After(merged_at),
                    error => panic!("{error}"),
                };
            }
            let page = page(collection, &range.min, &range.max, mode, from, 100_000).unwrap();
            for item in page.items {
                all.push(format!("{} {mode:?} {item:?}", range.id));
            }
            all.push(format!("{} {mode:?} {}", range.id, page.continuation));
        }
    }
    all
}

#[test]
fn compaction_changes_nothing_that_can_be_read() {
    let mut shrunk = 0;
    for seed in 0..12 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let now = Arc::new(AtomicI64::new(1_000));
        let dir = tempfile::tempdir().unwrap();
        let open = |least: u64| {
            let now = Arc::clone(&now);
            let clock = move || Timestamp::from_second(now.load(Ordering::Relaxed)).unwrap();
            let options = Options::new(Arc::new(clock))
                .sync(false)
                .compact_from(least);
            Emulator::open(dir.path(), options).unwrap()
        };
        let config = CollectionConfig::new("/pk")
            .ranges(2)
            .retention(Duration::from_secs(40))
            .default_ttl(-1)
            .previous_images();
        let write = |emulator: &Emulator, rng: &mut fastrand::Rng| {
            let items = emulator.create_collection("items", config.clone()).unwrap();
            for _ in 0..400 {
                now.fetch_add(i64::from(rng.u8(0..4) / 3), Ordering::Relaxed);
                let (pk, id) = (rng.u32(0..9), rng.u32(0..4).to_string());
                let body = document(pk, &id, rng.u64(0..1000));
                match rng.u8(0..100) {
                    0 => drop(items.split(&rng.choice(items.ranges()).unwrap().id)),
                    1 => {
                        let ranges = items.ranges();
                        let at = rng.usize(0..ranges.len());
                        if let Some(next) = ranges.get(at + 1) {
                            items.merge([&ranges[at].id, &next.id]).unwrap();
                        }
                    }
                    2..25 => {
                        let key = PartitionKey::string(pk.to_string());
                        drop(items.delete(&id, &key));
                    }
                    25..40 => {
                        let steps = [
                            Write::Upsert(body.into()),
                            Write::Upsert(document(pk, "batch", rng.u64(0..9)).into()),
                            Write::Upsert(document(pk, &id, rng.u64(0..9)).into()),
                        ];
                        items.execute(steps.map(step), Numbering::Shared).unwrap();
                    }
                    _ => drop(items.upsert(body).unwrap()),
                }
            }
        };
        let emulator = open(u64::MAX);
        write(&emulator, &mut rng);
        let before = everything(&emulator.collection("items").unwrap());
        drop(emulator);
        let size = || {
            dir.path()
                .join("emulator.journal")
                .metadata()
                .unwrap()
                .len()
        };
        let large = size();

        // The next write compacts, as the journal is larger than nothing at all.
        let emulator = open(1);
        let items = emulator.collection("items").unwrap();
        assert_eq!(everything(&items), before, "seed {seed}, opened again");
        items.upsert(document(100, "more", 1)).unwrap();
        let compacted = everything(&items);
        shrunk += u32::from(size() < large);
        drop((items, emulator));
        let emulator = open(u64::MAX);
        let items = emulator.collection("items").unwrap();
        assert_eq!(
            everything(&items),
            compacted,
            "seed {seed}, compacted and opened again"
        );
        drop(items);
        write(&emulator, &mut rng);
        let grown = everything(&emulator.collection("items").unwrap());
        drop(emulator);
        let emulator = open(1);
        let items = emulator.collection("items").unwrap();
        assert_eq!(
            everything(&items),
            grown,
            "seed {seed}, grown and opened again"
        );
    }
    assert!(shrunk >= 8, "{shrunk} of 12 were compacted");
}

/// A disk that is full does not stay so for the sake of a compaction.
#[test]
fn a_compaction_that_fails_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicI64::new(1_000));
    let open = || {
        let now = Arc::clone(&now);
        let clock =
            Arc::new(move || Timestamp::from_second(now.fetch_add(1, Ordering::Relaxed)).unwrap());
        let options = Options::new(clock).sync(false).compact_from(1);
        Emulator::open(dir.path(), options).unwrap()
    };
    let emulator = open();
    let config = CollectionConfig::new("/pk").retention(Duration::from_secs(1));
    let items = emulator.create_collection("items", config).unwrap();
    items.upsert(document(1, "same", 0)).unwrap();
    let fresh = dir.path().join("emulator.journal.new");
    std::os::unix::fs::symlink("/dev/full", &fresh).unwrap();
    let mut written = 0;
    while fresh.symlink_metadata().is_ok() {
        written += 1;
        assert!(written < 10_000, "it was tried, and cleared up");
        items.upsert(document(1, "same", written)).unwrap();
    }
    // It goes on as it is, and the next compaction succeeds.
    let journal = dir.path().join("emulator.journal");
    let size = || journal.metadata().unwrap().len();
    let large = size();
    let mut smallest = large;
    for _ in 0..1_000 {
        written += 1;
        items.upsert(document(1, "same", written)).unwrap();
        smallest = smallest.min(size());
    }
    assert!(smallest < large, "{smallest} of {large}");
    let before = everything(&items);
    drop((items, emulator));
    assert_eq!(everything(&open().collection("items").unwrap()), before);
}

/// So many changes to so many documents, and the size of the journal in relation to what is needed.
fn churn(changes: u64, documents: u64) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let options = options().compact_from(1024 * 1024);
    let emulator = Emulator::open(dir.path(), options).unwrap();
    let items = emulator
        .create_collection("items", CollectionConfig::new("/pk").ranges(4))
        .unwrap();
    let filler = "x".repeat(400);
    let mut largest = 0;
    let disk = || -> u64 {
        let files = std::fs::read_dir(dir.path()).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum()
    };
    for group in 0..changes / 100 {
        let writes = (0..100).map(|at| {
            let n = (group * 100 + at) % documents;
            let body = format!(r#"{{"id":"{n}","pk":"{}","filler":"{filler}"}}"#, n % 97);
            Write::Upsert(body.into())
        });
        items.write_many(writes).unwrap();
        if group * 100 > documents * 2 {
            largest = largest.max(disk());
        }
    }
    assert_eq!(items.count(), documents);
    let mut needed = 0;
    for range in items.ranges() {
        let mut from = From::Beginning;
        loop {
            let page = page(
                &items,
                &range.min,
                &range.max,
                Mode::LatestVersion,
                from,
                1000,
            )
            .unwrap();
            needed += page
                .items
                .iter()
                .map(|item| (item.current.as_ref().unwrap().len() + 160) as u64)
                .sum::<u64>();
            from = From::After(page.continuation);
            if page.caught_up {
                break;
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let ratio = largest as f64 / needed as f64;
    println!(
        "{changes} changes, {documents} documents: {needed} bytes needed, at most {largest} on the disk, {ratio:.2}"
    );
    ratio
}

#[test]
fn the_disk_follows_what_is_needed() {
    assert!(churn(40_000, 4_000) < 3.0);
}

#[test]
#[ignore = "takes minutes without optimisation"]
fn the_disk_follows_what_is_needed_over_ten_million_changes() {
    assert!(churn(10_000_000, 10_000) < 3.0);
}
