//! The counter of all versions, killed again and again: what it counted is what the journal holds.
//!
//! I1 and I2 at four points: before the hooks of a page, between their effects and COMMIT, after COMMIT,
//! and inside an append to the journal. `SEED=…` repeats a run.

use std::collections::{BTreeSet, HashSet};

use fastrand::Rng;
use projectionist_emulator::{
    Collection, FeedRequest, From, Handle, Mode, Operation, PartitionKey, Write,
};

use crate::database::Database;
use crate::program::{COUNTER, Ended, Place, Running, options, things};

/// Writes in one append to the journal.
const GROUP: usize = 20;
const POINTS: [&str; 4] = ["before-hooks", "before-commit", "after-commit", "journal"];

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_counted_once_whatever_the_moment_of_death() {
    counted_once(None, 20_000, 9).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_too_every_change_is_counted_once() {
    if let Some(database) = Database::new().await {
        counted_once(Some(&database), 4_000, 3).await;
    }
}

/// So many changes, while each point kills so often.
async fn counted_once(database: Option<&Database>, changes: usize, times: usize) {
    let seed = std::env::var("SEED").map_or(20_231, |seed| seed.parse().unwrap());
    println!("SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let plan = plan(&mut rng, changes);
    let mut kills: Vec<&str> = POINTS
        .iter()
        .flat_map(|point| std::iter::repeat_n(*point, times))
        .collect();
    rng.shuffle(&mut kills);
    let mut settings = format!("{}[projections.counter]\nbatch = 40\n", things(3));
    if let Some(database) = database {
        settings = settings.replace("store = \"sqlite\"", "store = \"postgres\"");
        settings.push_str(&database.settings());
    }
    let place = Place::new(COUNTER, &settings);
    // The start position is `now`: stored before the first write.
    place.succeed(&["run", "--once"]);

    let share = changes.div_ceil(kills.len()).next_multiple_of(GROUP);
    for (round, point) in kills.iter().enumerate() {
        let upto = (share * (round + 1)).min(changes);
        let pass = 1 + rng.u64(..8);
        let crash = format!("{point}:{pass}");
        if *point == "journal" {
            write_until_it_dies(&place, &plan[..upto], &crash).await;
        }
        // What is missing of this round's share, also after a torn append.
        write(&place, &plan[..upto]);
        if *point != "journal" {
            let mut command = place.command(&["run", "--once"]);
            command.env("PROJECTIONIST_CRASH", &crash);
            let ended = crate::program::ended(&mut command);
            assert_killed(&ended, point);
        }
        println!("kill {:2} at {crash}, of {upto} changes", round + 1);
    }
    write(&place, &plan);
    place.succeed(&["run", "--once"]);

    let journal = journal(&place);
    assert_eq!(
        journal.len(),
        changes,
        "acknowledged writes are in it, once"
    );
    let (n, rows) = match database {
        None => found(&mut place.read_model().await).await,
        Some(database) => found(&mut database.connect().await).await,
    };
    assert_eq!(rows.len(), changes);
    assert_eq!(rows.into_iter().collect::<BTreeSet<_>>(), journal);
    assert_eq!(usize::try_from(n).unwrap(), changes);
    println!("{} kills, {n} changes, each counted once", kills.len());
}

/// The counter, and what it has seen.
async fn found<C>(model: &mut C) -> (i64, Vec<(String, i64, String, String)>)
where
    C: sqlx::Connection,
    for<'c> &'c mut C: sqlx::Executor<'c, Database = C::Database>,
    i64: for<'r> sqlx::Decode<'r, C::Database> + sqlx::Type<C::Database>,
    String: for<'r> sqlx::Decode<'r, C::Database> + sqlx::Type<C::Database>,
    usize: sqlx::ColumnIndex<<C::Database as sqlx::Database>::Row>,
    <C::Database as sqlx::Database>::Arguments: sqlx::IntoArguments<C::Database>,
{
    let n: i64 = sqlx::query_scalar("select n from counter")
        .fetch_one(&mut *model)
        .await
        .unwrap();
    let rows = sqlx::query_as("select range_id, sequence, id, operation from seen")
        .fetch_all(&mut *model)
        .await
        .unwrap();
    (n, rows)
}

/// P19: before the COMMIT of a split the parent goes on after a restart, after it the children do.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_split_whole_or_not_at_all_whatever_the_moment_of_death() {
    const SHARE: usize = 200;
    let plan = plan(&mut Rng::with_seed(7), 2_000);
    let settings = format!("{}[projections.counter]\nbatch = 40\n", things(1));
    let place = Place::new(COUNTER, &settings);
    place.succeed(&["run", "--once"]);
    let mut shares = plan.chunks(SHARE);
    // Whether it runs well in between; if not, a lease spans ever more ranges.
    let rounds = [
        ("split-before-commit:1", false),
        ("split-after-commit:1", true),
        ("split-before-commit:2", false),
        ("split-after-commit:2", true),
        ("split-before-commit:5", true),
    ];
    for (crash, goes_on) in rounds {
        let emulator = place.emulator();
        let collection = emulator.collection("things").unwrap();
        let mut write = || {
            for group in shares.next().unwrap().chunks(GROUP) {
                collection.write_many(group.iter().cloned()).unwrap();
            }
        };
        write();
        for range in collection.ranges() {
            collection.split(&range.id).unwrap();
        }
        write();
        drop((collection, emulator));
        let mut command = place.command(&["run", "--once"]);
        command.env("PROJECTIONIST_CRASH", crash);
        let ended = crate::program::ended(&mut command);
        assert_killed(&ended, crash.split_once(':').unwrap().0);
        if goes_on {
            place.succeed(&["run", "--once"]);
        }
    }
    let written = 2 * SHARE * rounds.len();
    let without_range = |(_, sequence, id, operation)| (sequence, id, operation);
    let journal: BTreeSet<_> = journal(&place).into_iter().map(without_range).collect();
    assert_eq!(journal.len(), written);
    let mut model = place.read_model().await;
    let n: i64 = sqlx::query_scalar("select n from counter")
        .fetch_one(&mut model)
        .await
        .unwrap();
    let rows: Vec<(String, i64, String, String)> =
        sqlx::query_as("select range_id, sequence, id, operation from seen")
            .fetch_all(&mut model)
            .await
            .unwrap();
    assert_eq!(rows.len(), written);
    let seen: BTreeSet<_> = rows.into_iter().map(without_range).collect();
    assert_eq!(seen, journal);
    assert_eq!(usize::try_from(n).unwrap(), written);
}

/// Creates, replaces and deletes, valid one after the other.
fn plan(rng: &mut Rng, changes: usize) -> Vec<Write> {
    const DOCUMENTS: u32 = 400;
    let mut living = HashSet::new();
    (0..changes)
        .map(|turn| {
            let number = rng.u32(..DOCUMENTS);
            let (id, key) = (format!("d{number}"), format!("k{}", number % 37));
            if living.contains(&number) && rng.u32(..4) == 0 {
                living.remove(&number);
                return Write::Delete {
                    id,
                    partition_key: PartitionKey::string(key),
                };
            }
            let body = format!(r#"{{"id": "{id}", "key": "{key}", "turn": {turn}}}"#).into();
            if living.insert(number) {
                Write::Create(body)
            } else {
                Write::Replace(body)
            }
        })
        .collect()
}

/// How many writes of the plan are in the journal: each has one sequence number.
fn written(collection: &Collection) -> usize {
    let ends = collection
        .ranges()
        .iter()
        .map(|range| collection.end(&range.min, &range.max).unwrap())
        .sum::<u64>();
    usize::try_from(ends).unwrap()
}

fn write(place: &Place, plan: &[Write]) {
    let emulator = place.emulator();
    let collection = emulator.collection("things").unwrap();
    for group in plan[written(&collection)..].chunks(GROUP) {
        collection.write_many(group.iter().cloned()).unwrap();
    }
}

/// Writes through a process that reads at the same time and dies in the middle of an append.
async fn write_until_it_dies(place: &Place, plan: &[Write], crash: &str) {
    let before = written(&place.emulator().collection("things").unwrap());
    let mut command = place.command(&["run"]);
    command.env("PROJECTIONIST_CRASH", crash);
    let running = Running::start(command, place.file("said"));
    running.says("listening");
    let handle = Handle::open_or_connect(&place.file(".projector"), options())
        .await
        .unwrap();
    assert!(matches!(handle, Handle::Client(_)), "the process owns it");
    let mut acknowledged = before;
    for group in plan[before..].chunks(GROUP) {
        if handle.write_many("things", group.to_vec()).await.is_err() {
            break;
        }
        acknowledged += group.len();
    }
    assert_killed(&running.end(), "journal");
    let found = written(&place.emulator().collection("things").unwrap());
    assert_eq!(
        found, acknowledged,
        "{crash}: what was answered, no torn rest"
    );
}

#[track_caller]
fn assert_killed(ended: &Ended, point: &str) {
    assert!(ended.is_killed(), "{ended:#?}");
    let said = format!("crash point {point}: dying");
    assert!(ended.err.contains(&said), "{ended:#?}");
}

/// Every change that the journal holds, read without the engine.
fn journal(place: &Place) -> BTreeSet<(String, i64, String, String)> {
    let emulator = place.emulator();
    let collection = emulator.collection("things").unwrap();
    let mut changes = BTreeSet::new();
    for range in collection.ranges() {
        let mut after = 0;
        loop {
            let request = FeedRequest {
                min: range.min.clone(),
                max: range.max.clone(),
                mode: Mode::AllVersions,
                from: From::After(after),
                max_items: 1000,
            };
            let page = collection.read_feed(&request).unwrap();
            after = page.continuation;
            for item in page.items {
                let operation = match item.operation {
                    Operation::Create => "create",
                    Operation::Replace => "replace",
                    Operation::Delete => "delete",
                    Operation::Upsert => unreachable!("all versions tell which it was"),
                };
                changes.insert((
                    format!("{}-{}", range.min, range.max),
                    i64::try_from(item.lsn).unwrap(),
                    item.id.to_string(),
                    operation.to_owned(),
                ));
            }
            if page.caught_up {
                break;
            }
        }
    }
    changes
}
