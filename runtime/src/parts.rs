//! Opens what the settings name: the store, the coordination, the feeds of the collections.
//!
//! One instance at a time: its lock is taken before anything is opened, and a second one is
//! refused with the name of the first.

mod stores;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use projectionist::extract::state::States;
use projectionist::registry::ProjectionDef;
use projectionist_emulator::Server;

use crate::clock::{Clock, SystemClock};
use crate::config::{Config, FeedKind, Origin};
use crate::coordination::memory::MemoryCoordination;
use crate::coordination::{Coordination, Instance};
use crate::demo::DemoWrite;
use crate::engine::{DEFAULT_BATCH, Engine, Prepared, Setup};
use crate::feed::Feed;
use crate::local::{Local, serve};
use crate::problem::{Problem, Problems, codes};
use crate::remote;
use crate::store::Store;
use crate::store::postgres::Claim;
use crate::store::sqlite::lock::{Holder, InstanceLock};

use self::stores::{Opened, Scratch, inspected, lock_problem, stores};
pub(crate) use self::stores::{holder, look, look_at_rolls, store, store_problem};

/// What a run stands on.
#[derive(Debug)]
pub(crate) struct Parts {
    store: Arc<dyn Store>,
    coordination: Arc<dyn Coordination>,
    /// Where the store is, if it ends with the process.
    _scratch: Option<Scratch>,
    /// The emulator's collections, where they are the feed.
    local: Option<Local>,
    /// For `dev` commands in other processes.
    _server: Option<Server>,
    feeds: BTreeMap<String, Arc<dyn Feed>>,
    instance: Instance,
    lock: Option<InstanceLock>,
    /// The store's, where other machines could run on it too.
    _claim: Option<Claim>,
}

/// Checks that the settings have all that these projections need to run.
pub(crate) fn demands(config: &Config, defs: &[&'static ProjectionDef]) -> Result<(), Problems> {
    let mut problems = Vec::new();
    if config.feed.is_none() {
        problems.push(Problem::new(
            codes::NO_FEED,
            "no feed is configured, so there is nothing to read",
            "Set `feed = \"emulator\"` or `feed = \"cosmos\"` in projector.toml, or `PROJECTOR_FEED=…`.",
        ));
    }
    if config.store.is_none() {
        problems.push(Problem::new(
            codes::NO_STORE,
            "no store is configured, so nothing could be kept",
            "Set `store = \"sqlite\"` or `store = \"postgres\"` in projector.toml, or `PROJECTOR_STORE=…`.",
        ));
    }
    for def in defs {
        let name = def.spec.collection;
        if !config.collections.contains_key(name) {
            let mut problem = unknown_collection(config, name);
            problem.message = format!(
                "projection `{}` reads collection `{name}`, which the settings do not have ({})",
                def.spec.name, def.location
            );
            problems.push(problem);
        }
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Problems(problems))
    }
}

/// A collection that the settings do not have.
pub(crate) fn unknown_collection(config: &Config, name: &str) -> Problem {
    let names: Vec<_> = config.collections.keys().map(String::as_str).collect();
    let known = if names.is_empty() {
        "The settings have none yet.".to_owned()
    } else {
        format!("The settings have: {}.", names.join(", "))
    };
    let least = match config.feed {
        Some(FeedKind::Cosmos) => "database = \"…\"",
        _ => "partition_key = \"/…\"",
    };
    Problem::new(
        codes::UNKNOWN_COLLECTION,
        format!("there is no collection `{name}`"),
        format!("{known} A new one is `[collections.{name}]` with `{least}` in projector.toml."),
    )
}

/// Something that writes to the emulator's collections, where they are not the feed.
pub(crate) fn not_local(what: &str) -> Problem {
    Problem::new(
        codes::EMULATOR_FAILED,
        format!("{what} writes to the collections of the emulator, and `feed` is another"),
        "Set `feed = \"emulator\"`, or `PROJECTOR_FEED=emulator` for this command.",
    )
}

impl Parts {
    /// Opens everything to run these projections. `program` says what this process is, to others
    /// who find the data in use.
    pub(crate) async fn open(
        config: &Config,
        defs: &[&'static ProjectionDef],
        program: &str,
    ) -> Result<Self, Problems> {
        let clock = SystemClock;
        let incarnation = uuid::Uuid::now_v7().to_string();
        let instance = Instance {
            name: config
                .instance
                .clone()
                .unwrap_or_else(|| format!("{}-{}", std::process::id(), &incarnation[24..])),
            incarnation,
            pid: std::process::id(),
            // For people: fractions of a second say nothing.
            started_at: clock.now().round(jiff::Unit::Second).unwrap_or_default(),
        };
        let lock = InstanceLock::acquire(&config.data_dir, &instance).map_err(lock_problem)?;
        // Whatever is wrong there, nothing was made here.
        let remote = remote::feeds(config, defs).await?;
        let Opened {
            store,
            coordination,
            claim,
        } = stores(config, &instance).await?;
        let (local, server, feeds) = if let Some(feeds) = remote {
            (None, None, feeds)
        } else {
            let local = Local::open_to_run(&config.data_dir, program).await?;
            let feeds = local.preview(config)?;
            let server = serve(&local, &config.data_dir).await?;
            (Some(local), Some(server), feeds)
        };
        Ok(Self {
            store,
            coordination,
            _scratch: None,
            local,
            _server: server,
            feeds,
            instance,
            lock: Some(lock),
            _claim: claim,
        })
    }

    /// Opens everything to check it, and changes nothing: without the instance's lock; a store that is not there is a
    /// scratch one, collections that are not there, or whose owner is another process, are in memory.
    pub(crate) async fn inspect(
        config: &Config,
        defs: &[&'static ProjectionDef],
    ) -> Result<(Self, Option<Holder>), Problems> {
        let holder = holder(config).await?;
        let remote = remote::feeds(config, defs).await?;
        let (store, scratch) = inspected(config, holder.is_some()).await?;
        let (local, feeds) = if let Some(feeds) = remote {
            (None, feeds)
        } else {
            let local = if holder.is_none() && Local::exists(&config.data_dir) {
                Local::open(&config.data_dir, "check")?
            } else {
                Local::in_memory()
            };
            let feeds = local.preview(config)?;
            (Some(local), feeds)
        };
        let parts = Self {
            store,
            coordination: Arc::new(MemoryCoordination::new()),
            _scratch: scratch,
            local,
            _server: None,
            feeds,
            instance: Instance {
                name: "check".to_owned(),
                incarnation: String::new(),
                pid: std::process::id(),
                started_at: SystemClock.now(),
            },
            lock: None,
            _claim: None,
        };
        Ok((parts, holder))
    }

    /// What the engine runs on, once nothing in the declarations stands against it: only then are the settings applied
    /// to the collections, and those that are not there made, also those that no projection reads:
    /// `dev put` and the demonstration may write to them.
    pub(crate) fn setup_to_run(
        &mut self,
        config: &Config,
        defs: &[&'static ProjectionDef],
        states: States,
    ) -> Result<Setup, Problems> {
        Engine::verify(&self.setup(config, defs, states.clone())?)?;
        if let Some(local) = &self.local {
            self.feeds = local.apply(config)?;
        }
        self.setup(config, defs, states)
    }

    /// What the engine checks.
    pub(crate) fn setup(
        &self,
        config: &Config,
        defs: &[&'static ProjectionDef],
        states: States,
    ) -> Result<Setup, Problems> {
        let mut projections = Vec::with_capacity(defs.len());
        for def in defs {
            let feed = self
                .feeds
                .get(def.spec.collection)
                .ok_or_else(|| unknown_collection(config, def.spec.collection))?;
            let overrides = config.projections.get(def.spec.name);
            let (start, start_origin) = match (
                overrides.and_then(|overrides| overrides.start.clone()),
                def.spec.start,
            ) {
                (Some((start, origin)), _) => (start, origin.to_string()),
                (None, Some(start)) => (start, "its attribute".to_owned()),
                (None, None) => (def.start(), Origin::Default.to_string()),
            };
            projections.push(Prepared {
                def,
                start,
                start_origin,
                batch: overrides
                    .and_then(|overrides| overrides.batch)
                    .or(def.spec.batch)
                    .unwrap_or(DEFAULT_BATCH),
                feed: Arc::clone(feed),
            });
        }
        Ok(Setup {
            projections,
            schema: config.schema,
            states,
            store: Arc::clone(&self.store),
            coordination: Arc::clone(&self.coordination),
            instance: self.instance.clone(),
            clock: Arc::new(SystemClock),
            seed: uuid::Uuid::new_v4().as_u64_pair().0,
            limits: config.limits,
        })
    }

    /// Resolves when the data directory, or the lock in it, was removed or replaced under the running program.
    pub(crate) fn displaced(&self) -> impl Future<Output = Problem> + Send + use<> {
        const LOOK: Duration = Duration::from_secs(1);
        let watch = self.lock.as_ref().map(InstanceLock::watch);
        async move {
            let Some(watch) = watch else {
                return std::future::pending().await;
            };
            while watch.is_in_place() {
                SystemClock.sleep(LOOK).await;
            }
            Problem::new(
                codes::DATA_REMOVED,
                "the data directory was removed or replaced under the running program",
                "What was written since may be gone with it. Start the program again; stop it first next time.",
            )
        }
    }

    /// This process.
    pub(crate) fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The store.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Whether nothing was ever written to any collection of the emulator. Others' are not for demonstrations.
    pub(crate) async fn is_unwritten(&self) -> Result<bool, Problem> {
        if self.local.is_none() {
            return Ok(false);
        }
        let failed = |error| crate::problem::causes::feed_problem("", error);
        for feed in self.feeds.values() {
            for range in feed.ranges().await.map_err(failed)? {
                if feed.newest(&range.bounds).await.map_err(failed)? > 0 {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Writes to one collection, all or nothing.
    pub(crate) fn write(&self, collection: &str, writes: &[DemoWrite]) -> Result<(), Problem> {
        match &self.local {
            Some(local) => local.demonstrate(collection, writes),
            None => Err(not_local("a demonstration")),
        }
    }
}
