//! The test kit: one projection, the emulator, a real store, and a clock that only the test moves.
//!
//! The test is the runtime: pages are read and applied when it asks, in the ordinary path and no
//! other. Nothing waits, so a test takes milliseconds and gives the same result each time.

#[cfg(feature = "postgres")]
mod schema;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use projectionist::extract::state::States;
use projectionist::projection::{Projection, Start};
use projectionist::registry::{Location, ProjectionDef};
use projectionist::sql::FromRow;
use projectionist_emulator::{Collection, CollectionConfig, Emulator, Options, PartitionKey};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "postgres")]
use self::schema::Schema;
use crate::clock::{Clock, ManualClock};
use crate::coordination::Instance;
use crate::coordination::memory::MemoryCoordination;
use crate::engine::{DEFAULT_BATCH, Engine, Limits, Prepared, SchemaPolicy, Setup};
use crate::feed::emulator::EmulatorFeed;
use crate::letters::{Letter, LetterFilter};
use crate::pulse::Pulse;
use crate::pump::{Pump, Step};
#[cfg(feature = "postgres")]
use crate::store::postgres::{OpenOptions as PostgresOptions, PostgresStore};
use crate::store::sqlite::{OpenOptions, SqliteStore};
use crate::store::{Checkpoint, Store};

/// What a test gives back: `?` takes any error.
pub type Result<T = (), E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// How often a page may fail in a row before [`Projector::settle`] says that it does not succeed.
const ATTEMPTS: u32 = 20;

/// A projector to be: what it runs on.
#[derive(Debug)]
#[must_use = "nothing runs before `.sqlite().await` or `.postgres(url).await`"]
pub struct Builder {
    def: &'static ProjectionDef,
    collection: CollectionConfig,
    states: States,
    start: Option<Start>,
    batch: Option<u32>,
}

/// One projection at work, step by step.
pub struct Projector {
    setup: Parts,
    collection: Arc<Collection>,
    pumps: Vec<Pump>,
    twice: bool,
    /// Holds the store's files, or its schema, until the test ends.
    _place: Place,
    _emulator: Emulator,
}

/// Where a store lies.
enum Place {
    Directory {
        _directory: TempDir,
    },
    #[cfg(feature = "postgres")]
    Schema {
        _schema: Schema,
    },
}

/// What survives a restart.
struct Parts {
    prepared: Prepared,
    states: States,
    store: Arc<dyn Store>,
    clock: ManualClock,
}

impl fmt::Debug for Projector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "testing::Projector({})",
            self.setup.prepared.def.spec.name
        )
    }
}

impl Projector {
    /// A projector of `P` alone. Its collection has the partition key `/id`, one range, and a
    /// retention window of a week, until told otherwise.
    pub fn of<P: Projection>() -> Builder {
        const WEEK: Duration = Duration::from_hours(7 * 24);
        let location = Location {
            file: "a test",
            line: 0,
        };
        Builder {
            // A definition lives as long as the program; a test's is small.
            def: Box::leak(Box::new(ProjectionDef::of::<P>(location))),
            collection: CollectionConfig::new("/id").retention(WEEK),
            states: States::default(),
            start: None,
            batch: None,
        }
    }
}

impl Builder {
    /// The path of the collection's partition key: `/tenantId`.
    pub fn partition_key(mut self, path: &str) -> Self {
        self.collection.partition_key = vec![path.to_owned()];
        self
    }

    /// The number of the collection's ranges.
    pub const fn ranges(mut self, ranges: u32) -> Self {
        self.collection.ranges = ranges;
        self
    }

    /// The collection's retention window. Zero: no all-versions feed.
    pub const fn retention(mut self, window: Duration) -> Self {
        self.collection.retention = Some(window);
        self
    }

    /// The collection keeps the version before each change, which the service does not by default.
    pub const fn previous_images(mut self) -> Self {
        self.collection.previous_images = true;
        self
    }

    /// Documents expire: after so many seconds, or, with -1, only where they say so themselves.
    pub const fn ttl(mut self, seconds: i32) -> Self {
        self.collection.default_ttl = Some(seconds);
        self
    }

    /// A value for `State<T>` arguments.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Where to start, over what the attribute says.
    pub const fn start(mut self, start: Start) -> Self {
        self.start = Some(start);
        self
    }

    /// The page size, over what the attribute says.
    pub const fn batch(mut self, size: u32) -> Self {
        self.batch = Some(size);
        self
    }

    /// Starts it on SQLite, in a folder that goes with the test.
    ///
    /// # Errors
    ///
    /// As the start of a real projector: a missing state, DDL that fails, an impossible start.
    pub async fn sqlite(self) -> Result<Projector> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("projector.db");
        let store = SqliteStore::open(
            &path,
            OpenOptions {
                create: true,
                ..OpenOptions::default()
            },
        )
        .await?;
        let place = Place::Directory {
            _directory: directory,
        };
        self.on(Arc::new(store), place).await
    }

    /// Starts it on a new schema of PostgreSQL, in the database at `url`, that ends with the test.
    ///
    /// # Errors
    ///
    /// As [`sqlite`](Self::sqlite); if the database cannot be reached, or takes no new schema.
    #[cfg(feature = "postgres")]
    pub async fn postgres(self, url: &str) -> Result<Projector> {
        let schema = Schema::new(url).await?;
        let store = PostgresStore::open(&schema.url(), PostgresOptions::default()).await?;
        self.on(Arc::new(store), Place::Schema { _schema: schema })
            .await
    }

    async fn on(self, store: Arc<dyn Store>, place: Place) -> Result<Projector> {
        let clock = ManualClock::new(Timestamp::from_second(1_764_547_200)?);
        let time = clock.clone();
        let emulator = Emulator::in_memory(Options::new(Arc::new(move || time.now())));
        let spec = self.def.spec;
        let collection = emulator.create_collection(spec.collection, self.collection)?;
        let setup = Parts {
            prepared: Prepared {
                def: self.def,
                start: self.start.unwrap_or_else(|| self.def.start()),
                start_origin: "the test".to_owned(),
                batch: self.batch.or(spec.batch).unwrap_or(DEFAULT_BATCH),
                feed: Arc::new(EmulatorFeed::new(Arc::clone(&collection))),
            },
            states: self.states,
            store,
            clock,
        };
        let pumps = setup.pumps().await?;
        Ok(Projector {
            setup,
            collection,
            pumps,
            twice: false,
            _place: place,
            _emulator: emulator,
        })
    }
}

impl Parts {
    async fn pumps(&self) -> Result<Vec<Pump>> {
        let ready = Engine::prepare(Setup {
            schema: SchemaPolicy::Apply,
            projections: vec![self.prepared.clone()],
            states: self.states.clone(),
            store: Arc::clone(&self.store),
            coordination: Arc::new(MemoryCoordination::default()),
            instance: Instance {
                name: "test".to_owned(),
                incarnation: "test".to_owned(),
                pid: std::process::id(),
                started_at: self.clock.now(),
            },
            clock: Arc::new(self.clock.clone()),
            seed: 0,
            limits: Limits::default(),
        })
        .await?;
        let mut pumps = Vec::new();
        for (runner, checkpoints) in ready.runners {
            for checkpoint in checkpoints {
                let pulse = Arc::new(Pulse::new(CancellationToken::new()));
                pumps.extend(Pump::take(Arc::clone(&runner), &checkpoint, pulse).await?);
            }
        }
        Ok(pumps)
    }
}

impl Projector {
    /// Creates or replaces a document.
    ///
    /// # Errors
    ///
    /// If it is no document: not an object, without an `id`.
    #[expect(clippy::unused_async, reason = "a test's steps read alike")]
    pub async fn upsert(&mut self, document: Value) -> Result {
        self.collection.upsert(document.to_string())?;
        Ok(())
    }

    /// Deletes a document.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[expect(clippy::unused_async, reason = "a test's steps read alike")]
    pub async fn delete(&mut self, id: &str, partition_key: impl Into<PartitionKey>) -> Result {
        self.collection.delete(id, &partition_key.into())?;
        Ok(())
    }

    /// Runs SQL beside the projection, for what a test needs to stand in the database.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn execute(&mut self, sql: &str) -> Result {
        self.setup.store.define("the test", sql).await?;
        Ok(())
    }

    /// From here on every page is delivered twice: once to be rolled back, as if the process had died
    /// before the commit, and then for good. A projection whose result depends on it is not ready
    /// for the real world.
    pub const fn deliver_twice(&mut self) -> &mut Self {
        self.twice = true;
        self
    }

    /// Reads and applies until nothing is left. A page that has to wait is tried again with the
    /// clock moved past the pause.
    ///
    /// # Errors
    ///
    /// What stopped the projection; or the last failure of a page that fails 20 times in a row.
    pub async fn settle(&mut self) -> Result {
        let mut at = 0;
        while at < self.pumps.len() {
            match self.drain(at).await? {
                None => at += 1,
                Some(children) => {
                    let children = self.pumps[at].succeeded(&children).await?;
                    self.pumps.splice(at..=at, children);
                }
            }
        }
        Ok(())
    }

    /// Steps one pump to the end of its range, or until that was split.
    async fn drain(&mut self, at: usize) -> Result<Option<Vec<Checkpoint>>> {
        let pump = &mut self.pumps[at];
        let mut failures = 0;
        loop {
            if self.twice {
                pump.rehearse().await;
            }
            match pump.step().await {
                Step::More(_) => failures = 0,
                Step::CaughtUp(_) => return Ok(None),
                Step::Wait { why, .. } if failures + 1 == ATTEMPTS => {
                    return Err(format!("a page failed {ATTEMPTS} times in a row: {why}").into());
                }
                Step::Wait { delay, .. } => {
                    failures += 1;
                    self.setup.clock.advance(delay);
                }
                Step::Failed(problem) => return Err(problem.into()),
                Step::Split(children) => return Ok(Some(children)),
                Step::Aborted => return Err("the projection was aborted".into()),
            }
        }
    }

    /// Settles, then runs a query: `rows::<(String, i64)>("select id, cents from billing")`.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle); the database's; a column that does not fit.
    pub async fn rows<R: FromRow>(&mut self, sql: &str) -> Result<Vec<R>> {
        self.settle().await?;
        let table = self.setup.store.query(sql).await?;
        let rows = table.rows.into_iter().map(R::from_row);
        Ok(rows.collect::<std::result::Result<_, _>>()?)
    }

    /// Settles, then lists the dead letters, oldest first.
    ///
    /// # Errors
    ///
    /// As [`settle`](Self::settle); the database's.
    pub async fn dead_letters(&mut self) -> Result<Vec<Letter>> {
        self.settle().await?;
        Ok(self.setup.store.letters(&LetterFilter::default()).await?)
    }

    /// Moves the clock: documents expire, retention windows pass.
    pub fn advance(&mut self, by: Duration) -> &mut Self {
        self.setup.clock.advance(by);
        self
    }

    /// The clock, which stands still until it is moved.
    pub const fn clock(&self) -> &ManualClock {
        &self.setup.clock
    }

    /// Ends the projection and starts it again on the same store: it goes on from its checkpoints.
    ///
    /// # Errors
    ///
    /// As the start of a real projector.
    pub async fn restart(&mut self) -> Result {
        self.pumps = self.setup.pumps().await?;
        Ok(())
    }
}
