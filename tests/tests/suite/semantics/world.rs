//! Emulator, store and clock without a process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist_emulator::{Collection, CollectionConfig, Emulator, Options};
use projectionist_runtime::clock::{Clock as _, ManualClock};
use projectionist_runtime::coordination::Instance;
use projectionist_runtime::coordination::memory::MemoryCoordination;
use projectionist_runtime::engine::{
    Engine, Limits, Prepared, Ready, SchemaPolicy, Setup, Summary, Until,
};
use projectionist_runtime::feed::emulator::EmulatorFeed;
use projectionist_runtime::problem::Problems;
use projectionist_runtime::store::Store;
use projectionist_runtime::store::memory::MemoryStore;

use super::hooks::{Log, Told, def};

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
            schema: SchemaPolicy::Apply,
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
