//! Emulator, store and clock without a process, and projections that write down what they are told.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::hook::{Hooks, Outcome, Page};
use projectionist::prelude::*;
use projectionist::projection::{Spec, Start};
use projectionist::registry::Location;
use projectionist_emulator::{Collection, CollectionConfig, Emulator, Options};
use projectionist_runtime::clock::{Clock as _, ManualClock};
use projectionist_runtime::coordination::Instance;
use projectionist_runtime::coordination::memory::MemoryCoordination;
use projectionist_runtime::engine::{Engine, Limits, Prepared, Ready, Setup, Summary, Until};
use projectionist_runtime::feed::emulator::EmulatorFeed;
use projectionist_runtime::problem::Problems;
use projectionist_runtime::store::Store;
use projectionist_runtime::store::memory::MemoryStore;
use serde_json::Value;

/// What a hook was told of one change.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) operation: Operation,
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) current: Option<Value>,
    pub(crate) previous: Option<Value>,
    pub(crate) delete: Option<DeleteKind>,
    pub(crate) range: String,
    pub(crate) sequence: u64,
}

/// Where hooks write it down, and how they are made to fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    told: Arc<Mutex<Vec<Told>>>,
    pub(crate) fails: Arc<AtomicBool>,
    /// The store whose leases the next call of a hook takes, as another owner would.
    pub(crate) thief: Arc<Mutex<Option<Arc<dyn Store>>>>,
    /// The sizes of the pages that [`Counting`] was called with.
    pub(crate) pages: Arc<Mutex<Vec<usize>>>,
}

async fn steal(store: &dyn Store) {
    for checkpoint in store.checkpoints().await.unwrap() {
        let taken = store.take(&checkpoint.lease, checkpoint.changed_at).await;
        assert!(taken.unwrap().is_some());
    }
}

impl Log {
    fn push(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }

    /// What was written down since the last call.
    pub(crate) fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

fn told(operation: Operation, id: &DocumentId, key: &PartitionKey, at: Ctx<'_>) -> Told {
    Told {
        operation,
        id: id.as_str().to_owned(),
        key: key.json().to_owned(),
        current: None,
        previous: None,
        delete: at.delete_kind(),
        range: at.range_id().to_owned(),
        sequence: at.sequence().unwrap(),
    }
}

/// All versions.
#[projection(collection = "things", name = "every", register = false)]
pub(crate) struct Every;

impl Every {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn log(
        operation: Operation,
        id: DocumentId,
        key: PartitionKey,
        now: Option<Change<Value>>,
        before: Option<Previous<Value>>,
        at: Ctx<'_>,
        log: State<Log>,
    ) -> Result<(), &'static str> {
        log.push(Told {
            current: now.map(|Change(now)| now),
            previous: before.and_then(|Previous(before)| before),
            ..told(operation, &id, &key, at)
        });
        let thief = log.thief.lock().unwrap().take();
        if let Some(store) = thief {
            steal(&*store).await;
        }
        if log.fails.load(Ordering::SeqCst) {
            return Err("told to fail");
        }
        Ok(())
    }
}

/// The same under another name.
#[projection(collection = "things", name = "other", start = beginning, register = false)]
pub(crate) struct Other;

/// The latest versions.
#[projection(collection = "things", name = "latest", start = beginning, register = false)]
pub(crate) struct Latest;

/// The latest versions, under the name of [`Every`].
#[projection(collection = "things", name = "every", start = beginning, register = false)]
pub(crate) struct Switched;

macro_rules! latest {
    ($($type:ident),*) => {
        $(impl $type {
            #[on_upsert]
            async fn log(
                operation: Operation,
                id: DocumentId,
                key: PartitionKey,
                now: Change<Value>,
                at: Ctx<'_>,
                log: State<Log>,
            ) -> Result<(), &'static str> {
                log.push(Told { current: Some(now.0), ..told(operation, &id, &key, at) });
                if log.fails.load(Ordering::SeqCst) {
                    return Err("told to fail");
                }
                Ok(())
            }
        })*
    };
}

latest!(Other, Latest, Switched);

/// The latest versions, with a mark for deletes.
#[projection(
    collection = "things",
    name = "soft",
    soft_delete(deleted),
    start = beginning,
    register = false
)]
pub(crate) struct Soft;

impl Soft {
    #[on_upsert]
    #[on_delete]
    async fn log(
        operation: Operation,
        id: DocumentId,
        key: PartitionKey,
        at: Ctx<'_>,
        log: State<Log>,
    ) {
        log.push(told(operation, &id, &key, at));
    }
}

/// Written by hand, to see the pages themselves.
pub(crate) struct Counting(Arc<Log>);

impl Projection for Counting {
    const SPEC: Spec = Spec {
        name: "counting",
        ..Latest::SPEC
    };
    const HOOKS: Hooks = Latest::HOOKS;
    const MODE: Mode = Latest::MODE;

    fn build(states: &States) -> Result<Self, BoxError> {
        Ok(Self(states.get::<Log>().ok_or("no log")?))
    }

    fn apply_page<'a>(&'a self, mut page: Page<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let mut size = 0;
            while page.advance().is_some() {
                size += 1;
                if page.settle(Ok(Verdict::Done)).is_break() {
                    break;
                }
            }
            self.0.pages.lock().unwrap().push(size);
            page.finish()
        })
    }
}

/// The definition of a projection, which lives as long as the program.
pub(crate) fn def<P: Projection>() -> &'static ProjectionDef {
    let location = Location {
        file: "semantics.rs",
        line: 1,
    };
    Box::leak(Box::new(ProjectionDef::of::<P>(location)))
}

/// One collection, one store, one clock.
pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) things: Arc<Collection>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) log: Log,
}

pub(crate) fn config() -> CollectionConfig {
    CollectionConfig::new("/key").retention(Duration::from_hours(1))
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_second(1_800_000_000).unwrap())
}

fn options(clock: &ManualClock, seed: u64) -> Options {
    let clock = clock.clone();
    Options::new(Arc::new(move || clock.now())).seed(seed)
}

impl World {
    pub(crate) fn new(config: CollectionConfig) -> Self {
        Self::seeded(1, config)
    }

    /// A world whose resource ids come from another seed.
    pub(crate) fn seeded(seed: u64, config: CollectionConfig) -> Self {
        let clock = clock();
        Self::of(&Emulator::in_memory(options(&clock, seed)), clock, config)
    }

    /// A world whose journal is a file in this directory.
    pub(crate) fn on_disk(dir: &Path, config: CollectionConfig) -> Self {
        let clock = clock();
        let emulator = Emulator::open(dir, options(&clock, 1)).unwrap();
        Self::of(&emulator, clock, config)
    }

    fn of(emulator: &Emulator, clock: ManualClock, config: CollectionConfig) -> Self {
        Self {
            things: emulator.create_collection("things", config).unwrap(),
            clock,
            store: Arc::new(MemoryStore::new()),
            log: Log::default(),
        }
    }

    pub(crate) fn create(&self, id: &str, key: &str) {
        let body = format!(r#"{{"id": "{id}", "key": "{key}", "v": 1}}"#);
        self.things.create(body).unwrap();
    }

    pub(crate) fn replace(&self, id: &str, key: &str, version: u32) {
        let body = format!(r#"{{"id": "{id}", "key": "{key}", "v": {version}}}"#);
        self.things.replace(body).unwrap();
    }

    pub(crate) fn delete(&self, id: &str, key: &str) {
        self.things.delete(id, &key.into()).unwrap();
    }

    /// Prepares a projection, as the start of a process does.
    pub(crate) async fn prepare(
        &self,
        def: &'static ProjectionDef,
        start: Option<Start>,
        batch: u32,
    ) -> Result<Ready, Problems> {
        let mut states = States::default();
        states.insert(self.log.clone());
        Engine::prepare(Setup {
            projections: vec![Prepared {
                def,
                start: start.or(def.spec.start).unwrap_or(Start::Now),
                start_origin: "the test".to_owned(),
                batch,
                feed: Arc::new(EmulatorFeed::new(Arc::clone(&self.things))),
            }],
            states,
            store: Arc::clone(&self.store),
            coordination: Arc::new(MemoryCoordination::new()),
            instance: Instance {
                name: "test".to_owned(),
                incarnation: "test".to_owned(),
                pid: std::process::id(),
                started_at: self.clock.now(),
            },
            clock: Arc::new(self.clock.clone()),
            seed: 1,
            limits: Limits::default(),
        })
        .await
    }

    /// Runs it to the end of the feed. A page that fails is not tried again.
    pub(crate) async fn run<P: Projection>(&self) -> Result<Summary, Problems> {
        let ready = self.prepare(def::<P>(), None, 3).await?;
        Ok(ready
            .start(Until::EndOfFeed { attempts: 1 })
            .finished()
            .await)
    }

    /// Runs it well, and says what its hooks were told.
    pub(crate) async fn told<P: Projection>(&self) -> Vec<Told> {
        let summary = self.run::<P>().await.unwrap();
        assert!(summary.failed.is_empty(), "{:?}", summary.failed);
        self.log.take()
    }

    /// Runs it, and says with which code it stops, at its start or later.
    pub(crate) async fn stops<P: Projection>(&self) -> (&'static str, String) {
        let mut problems = match self.run::<P>().await {
            Ok(summary) => summary.failed,
            Err(Problems(problems)) => problems,
        };
        assert_eq!(problems.len(), 1, "{problems:?}");
        let problem = problems.remove(0);
        (problem.code, format!("{problem}: {}", problem.help))
    }
}
