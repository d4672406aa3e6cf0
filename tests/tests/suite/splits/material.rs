//! Collections that are written to and split, and projections that write down what they are told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist::sql::Value as SqlValue;
use projectionist_runtime::clock::Clock as _;
use projectionist_runtime::coordination::Instance;
use projectionist_runtime::coordination::memory::MemoryCoordination;
use projectionist_runtime::engine::{
    Engine, Limits, Prepared, Ready, Running, SchemaPolicy, Setup, Until,
};
use projectionist_runtime::feed::emulator::EmulatorFeed;
use projectionist_runtime::position::Bounds;
use projectionist_runtime::problem::Problems;
use projectionist_runtime::store::sqlite::{OpenOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::semantics::hooks::def;
use crate::semantics::world::{World, config};

/// A change as it was written, and as a hook was told of it: id, operation, version.
type Entry = (String, String, u64);

/// What hooks write down where the store has no SQL.
#[derive(Clone, Debug, Default)]
pub(super) struct Book(Arc<Mutex<Vec<Entry>>>);

impl Book {
    fn push(&self, entry: Entry) {
        self.0.lock().unwrap().push(entry);
    }
}

/// Where hooks wait while it is closed.
#[derive(Clone, Debug)]
pub(super) struct Gate(Arc<Mutex<Option<Closed>>>);

#[derive(Clone, Debug)]
struct Closed {
    entered: Arc<Semaphore>,
    opened: Arc<Semaphore>,
}

impl Gate {
    pub(super) fn close(&self) {
        *self.0.lock().unwrap() = Some(Closed {
            entered: Arc::new(Semaphore::new(0)),
            opened: Arc::new(Semaphore::new(0)),
        });
    }

    fn closed(&self) -> Option<Closed> {
        self.0.lock().unwrap().clone()
    }

    /// Resolves when a hook stands before it.
    pub(super) async fn entered(&self) {
        let closed = self.closed().expect("it is closed");
        drop(closed.entered.acquire().await.unwrap());
    }

    pub(super) fn open(&self) {
        let closed = self.0.lock().unwrap().take().expect("it is closed");
        closed.opened.close();
    }

    async fn pass(&self) {
        if let Some(closed) = self.closed() {
            closed.entered.add_permits(1);
            // An error: it was opened.
            let _ = closed.opened.acquire().await;
        }
    }
}

/// All versions, on any store.
#[projection(collection = "things", name = "versions", register = false)]
pub(super) struct Versions;

/// The latest versions, on any store.
#[projection(collection = "things", name = "latest", register = false)]
pub(super) struct Latest;

/// All versions, through `Tx`.
#[projection(
    collection = "things",
    name = "versions",
    ddl(sqlite = "create table if not exists counter (n integer not null);
        insert into counter select 0 where not exists (select 1 from counter);
        create table if not exists book (id text not null, operation text not null, version integer not null)"),
    register = false
)]
pub(super) struct VersionsSql;

/// The latest versions, through `Tx`.
#[projection(
    collection = "things",
    name = "latest",
    ddl(sqlite = "create table if not exists counter (n integer not null);
        insert into counter select 0 where not exists (select 1 from counter);
        create table if not exists book (id text not null, operation text not null, version integer not null)"),
    register = false
)]
pub(super) struct LatestSql;

macro_rules! hooks {
    ($type:ident, $sql:ident, $($hook:ident)*) => {
        impl $type {
            $(#[$hook])*
            async fn log(
                operation: Operation,
                id: DocumentId,
                now: Option<Change<Value>>,
                gate: State<Gate>,
                book: State<Book>,
            ) {
                gate.pass().await;
                book.push(entry(operation, &id, now));
            }
        }

        impl $sql {
            $(#[$hook])*
            async fn log(
                operation: Operation,
                id: DocumentId,
                now: Option<Change<Value>>,
                gate: State<Gate>,
                mut tx: Tx<'_>,
            ) -> Result<(), BoxError> {
                gate.pass().await;
                let (id, operation, version) = entry(operation, &id, now);
                tx.execute("update counter set n = n + 1", ()).await?;
                tx.execute(
                    "insert into book (id, operation, version) values ($1, $2, $3)",
                    (id.as_str(), operation.as_str(), i64::try_from(version)?),
                )
                .await?;
                Ok(())
            }
        }
    };
}

hooks!(Versions, VersionsSql, on_create on_replace on_delete);
hooks!(Latest, LatestSql, on_upsert);

fn entry(operation: Operation, id: &DocumentId, now: Option<Change<Value>>) -> Entry {
    let version = now.map_or(0, |Change(now)| now["v"].as_u64().unwrap());
    (
        id.as_str().to_owned(),
        operation.as_str().to_owned(),
        version,
    )
}

/// A store and a mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    sqlite: bool,
    mode: Mode,
}

/// Every store in every mode.
pub(super) fn all() -> Vec<Case> {
    let modes = [Mode::LatestVersion, Mode::AllVersionsAndDeletes];
    modes.into_iter().flat_map(of).collect()
}

/// Every store in one mode.
pub(super) fn of(mode: Mode) -> [Case; 2] {
    [false, true].map(|sqlite| Case { sqlite, mode })
}

impl Case {
    pub(super) fn name(self) -> String {
        let store = if self.sqlite { "sqlite" } else { "memory" };
        format!("{store}, {}", self.mode.as_str())
    }

    pub(super) fn begins_at_the_beginning(self) -> bool {
        self.mode == Mode::LatestVersion
    }

    fn start(self) -> Start {
        if self.begins_at_the_beginning() {
            Start::Beginning
        } else {
            Start::Now
        }
    }

    fn def(self) -> &'static ProjectionDef {
        match (self.mode, self.sqlite) {
            (Mode::LatestVersion, false) => def::<Latest>(),
            (Mode::LatestVersion, true) => def::<LatestSql>(),
            (Mode::AllVersionsAndDeletes, false) => def::<Versions>(),
            (Mode::AllVersionsAndDeletes, true) => def::<VersionsSql>(),
        }
    }
}

/// A collection and a projection on it, and what was written so far.
pub(super) struct Script {
    pub(super) world: World,
    pub(super) gate: Gate,
    case: Case,
    book: Book,
    written: Vec<Entry>,
    /// Of documents that are there.
    versions: BTreeMap<String, u64>,
    applied: u64,
    /// Holds the store's file.
    _directory: TempDir,
}

impl Script {
    /// A collection of so many ranges. An all-versions projection was started once.
    pub(super) async fn new(case: &Case, ranges: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(config().ranges(ranges));
        if case.sqlite {
            let options = OpenOptions {
                create: true,
                ..OpenOptions::default()
            };
            let path = directory.path().join("projector.db");
            world.store = Arc::new(SqliteStore::open(path, options).await.unwrap());
        }
        let script = Self {
            world,
            gate: Gate(Arc::default()),
            case: *case,
            book: Book::default(),
            written: Vec::new(),
            versions: BTreeMap::new(),
            applied: 0,
            _directory: directory,
        };
        if !case.begins_at_the_beginning() {
            drop(script.prepare(None).await.unwrap());
        }
        script
    }

    pub(super) async fn prepare(&self, start: Option<Start>) -> Result<Ready, Problems> {
        let def = self.case.def();
        let mut states = States::default();
        states.insert(self.gate.clone());
        states.insert(self.book.clone());
        Engine::prepare(Setup {
            schema: SchemaPolicy::Apply,
            projections: vec![Prepared {
                def,
                start: start.unwrap_or(self.case.start()),
                start_origin: "the test".to_owned(),
                batch: 3,
                feed: Arc::new(EmulatorFeed::new(Arc::clone(&self.world.things))),
            }],
            states,
            store: Arc::clone(&self.world.store),
            coordination: Arc::new(MemoryCoordination::new()),
            instance: Instance {
                name: "test".to_owned(),
                incarnation: "test".to_owned(),
                pid: std::process::id(),
                started_at: self.world.clock.now(),
            },
            clock: Arc::new(self.world.clock.clone()),
            seed: 1,
            limits: Limits::default(),
        })
        .await
    }

    /// Runs it well to the end of the feed.
    pub(super) async fn run(&mut self) {
        let ready = self.prepare(None).await.unwrap();
        self.finish(ready.start(Until::EndOfFeed { attempts: 1 }))
            .await;
    }

    pub(super) async fn finish(&mut self, running: Running) {
        let summary = running.finished().await;
        assert!(
            summary.failed.is_empty(),
            "{}: {:?}",
            self.case.name(),
            summary.failed
        );
        self.applied += summary.applied;
    }

    pub(super) fn split(&self, range: &str) {
        self.world.things.split(range).unwrap();
    }

    /// Writes every document so many times; in all-versions mode some are deleted between.
    pub(super) fn write(&mut self, rounds: u32) {
        for _ in 0..rounds {
            for document in 0..24_u64 {
                let (id, key) = (format!("d{document}"), format!("k{}", document % 12));
                let turn = self.written.len() as u64;
                let there = self.versions.get(&id).copied();
                let (operation, version) = match there {
                    Some(_) if self.case.mode != Mode::LatestVersion && turn.is_multiple_of(5) => {
                        self.world.delete(&id, &key);
                        self.versions.remove(&id);
                        ("delete", 0)
                    }
                    Some(version) => {
                        self.world
                            .replace(&id, &key, u32::try_from(version + 1).unwrap());
                        self.versions.insert(id.clone(), version + 1);
                        ("replace", version + 1)
                    }
                    None => {
                        self.world.create(&id, &key);
                        self.versions.insert(id.clone(), 1);
                        ("create", 1)
                    }
                };
                self.written.push((id, operation.to_owned(), version));
            }
        }
    }

    /// What was written so far is nothing that the projection is to be told of.
    pub(super) fn forget(&mut self) {
        self.written.clear();
    }

    pub(super) async fn leases(&self) -> Vec<Bounds> {
        let checkpoints = self.world.store.checkpoints().await.unwrap();
        checkpoints.into_iter().map(|row| row.bounds).collect()
    }

    async fn told(&self) -> Vec<Entry> {
        if !self.case.sqlite {
            return self.book.0.lock().unwrap().clone();
        }
        let query = async |sql| self.world.store.query(sql).await.unwrap().rows;
        let rows = query("select id, operation, version from book order by rowid").await;
        let counter = query("select n from counter").await;
        let count = i64::try_from(rows.len()).unwrap();
        assert_eq!(counter, [[SqlValue::Integer(count)]], "the counter");
        rows.into_iter()
            .map(|row| match &row[..] {
                [
                    SqlValue::Text(id),
                    SqlValue::Text(operation),
                    SqlValue::Integer(version),
                ] => (
                    id.clone(),
                    operation.clone(),
                    u64::try_from(*version).unwrap(),
                ),
                row => panic!("{row:?}"),
            })
            .collect()
    }

    /// Holds what hooks were told against what was written, and the leases against the ranges.
    pub(super) async fn check(&self, leases: usize) {
        self.check_told().await;
        let name = self.case.name();
        let found = self.leases().await;
        assert_eq!(found.len(), leases, "{name}: {found:?}");
        let ranges = self.world.things.ranges();
        let ranges: Vec<_> = ranges
            .into_iter()
            .map(|range| Bounds {
                min: range.min,
                max: range.max,
            })
            .collect();
        assert_eq!(found, ranges, "{name}");
    }

    /// Holds what hooks were told against what was written, and the leases against the key space.
    pub(super) async fn check_told(&self) {
        let name = self.case.name();
        let told = self.told().await;
        assert_eq!(self.applied, told.len() as u64, "{name}");
        assert!(!told.is_empty(), "{name}");
        for document in 0..24 {
            let id = format!("d{document}");
            let of = |entries: &[Entry]| {
                let of = entries.iter().filter(|(of, ..)| *of == id);
                of.cloned().collect::<Vec<_>>()
            };
            let (told, written) = (of(&told), of(&self.written));
            if self.case.mode == Mode::LatestVersion {
                let rises = told.is_sorted_by(|(_, _, a), (_, _, b)| a < b);
                assert!(rises, "{name}: {told:?}");
                let last = |entries: &[Entry]| entries.last().map(|(_, _, version)| *version);
                assert_eq!(last(&told), last(&written), "{name}: {id}");
            } else {
                assert_eq!(told, written, "{name}");
            }
        }
        let leases = self.leases().await;
        assert!(Bounds::whole().is_tiled_by(&leases), "{name}: {leases:?}");
    }
}
