//! The local collections of the emulator, as the command line uses them.
//!
//! One process owns their journal; others write through it ([`Access`]).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use projectionist_emulator::{
    AccessError, Collection, CollectionConfig, Emulator, EmulatorError, GroupError, Handle,
    Options, PartitionKey, Server, Write,
};
use serde_json::Value;

use crate::clock::{Clock as _, SystemClock};
use crate::config::{self, Config};
use crate::demo::DemoWrite;
use crate::feed::Feed;
use crate::feed::emulator::EmulatorFeed;
use crate::parts::unknown_collection;
use crate::position::Bounds;
use crate::problem::{Problem, codes};

/// The collections of a data directory, owned by this process.
#[derive(Clone, Debug)]
pub(crate) struct Local(Emulator);

impl Local {
    /// Opens the journal, or makes one.
    pub(crate) fn open(dir: &Path, program: &str) -> Result<Self, Problem> {
        Emulator::open(dir, options(program))
            .map(Self)
            .map_err(|error| emulator_problem(&error))
    }

    /// Opens the journal for the instance that holds the lock: no other instance lives then, so an
    /// owner is a short command, such as `status` or `dev put`, that is waited for.
    pub(crate) async fn open_to_run(dir: &Path, program: &str) -> Result<Self, Problem> {
        const PAUSE: Duration = Duration::from_millis(50);
        const TRIES: u32 = 100;
        let mut tries = 0;
        loop {
            match Emulator::open(dir, options(program)) {
                Err(EmulatorError::Owned { .. }) if tries < TRIES => {
                    tries += 1;
                    SystemClock.sleep(PAUSE).await;
                }
                opened => return opened.map(Self).map_err(|error| emulator_problem(&error)),
            }
        }
    }

    /// What a gateway serves.
    pub(crate) fn emulator(&self) -> Emulator {
        self.0.clone()
    }

    /// Empty collections that end with the process.
    pub(crate) fn in_memory() -> Self {
        Self(Emulator::in_memory(options("memory")))
    }

    /// Whether a data directory has a journal.
    pub(crate) fn exists(dir: &Path) -> bool {
        Emulator::exists(dir)
    }

    /// Makes a collection.
    pub(crate) fn create(&self, name: &str, setup: CollectionConfig) -> Result<(), Problem> {
        self.0
            .create_collection(name, setup)
            .map_err(|error| emulator_problem(&error))?;
        Ok(())
    }

    /// Makes the collections that the settings describe, applies what the settings say of those that there are,
    /// and gives their feeds. For `run` alone, once nothing stands against it: a shorter retention
    /// window forgets, a time to live deletes.
    pub(crate) fn apply(
        &self,
        config: &Config,
    ) -> Result<BTreeMap<String, Arc<dyn Feed>>, Problem> {
        self.feeds(config, Emulator::create_collection)
    }

    /// The feeds of the collections that the settings describe, as they are. Those that are not there are made.
    pub(crate) fn ensure(
        &self,
        config: &Config,
    ) -> Result<BTreeMap<String, Arc<dyn Feed>>, Problem> {
        self.feeds(config, Emulator::ensure_collection)
    }

    /// The feeds as the settings would have them, with nothing made or changed: those of collections that are not there
    /// are in memory.
    pub(crate) fn preview(
        &self,
        config: &Config,
    ) -> Result<BTreeMap<String, Arc<dyn Feed>>, Problem> {
        let mut feeds = Self::in_memory().ensure(config)?;
        for (name, settings) in &config.collections {
            if self.0.collection(name).is_err() {
                continue;
            }
            let collection = self
                .0
                .ensure_collection(name, setup(settings))
                .map_err(|error| emulator_problem(&error))?;
            let feed = EmulatorFeed::new(collection).with_retention(settings.retention);
            feeds.insert(name.clone(), Arc::new(feed));
        }
        Ok(feeds)
    }

    /// The feeds of the collections that are there. Others are left out.
    pub(crate) fn existing(&self) -> BTreeMap<String, Arc<dyn Feed>> {
        let all = self.0.collections();
        all.into_iter().map(feed).collect()
    }

    fn feeds(
        &self,
        config: &Config,
        open: fn(&Emulator, &str, CollectionConfig) -> Result<Arc<Collection>, EmulatorError>,
    ) -> Result<BTreeMap<String, Arc<dyn Feed>>, Problem> {
        let open = |(name, settings): (&String, &config::Collection)| {
            open(&self.0, name, setup(settings)).map(feed)
        };
        config
            .collections
            .iter()
            .map(open)
            .collect::<Result<_, _>>()
            .map_err(|error| emulator_problem(&error))
    }

    /// Makes a group of writes: all or none.
    pub(crate) fn write(&self, collection: &str, writes: Vec<Write>) -> Result<(), Refused> {
        let collection = self.0.collection(collection).map_err(Refused::All)?;
        collection.write_many(writes).map_err(Refused::One)?;
        Ok(())
    }

    /// Makes writes of a demonstration.
    pub(crate) fn demonstrate(
        &self,
        collection: &str,
        writes: &[DemoWrite],
    ) -> Result<(), Problem> {
        let writes = writes
            .iter()
            .map(|write| match write {
                DemoWrite::Upsert { document, .. } => {
                    Ok(Write::Upsert(document.to_string().into()))
                }
                DemoWrite::Delete {
                    id, partition_key, ..
                } => Ok(Write::Delete {
                    id: id.clone(),
                    partition_key: key(&partition_key.to_string())?,
                }),
            })
            .collect::<Result<_, Problem>>()?;
        self.write(collection, writes).map_err(Refused::problem)
    }
}

fn feed(collection: Arc<Collection>) -> (String, Arc<dyn Feed>) {
    let name = collection.name().to_owned();
    (name, Arc::new(EmulatorFeed::new(collection)))
}

/// Why a group of writes was refused.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The collection cannot be had.
    All(EmulatorError),
    /// One write is at fault.
    One(GroupError),
}

impl Refused {
    /// The place in the group of the write at fault.
    pub(crate) fn index(&self) -> Option<usize> {
        match self {
            Self::All(_) => None,
            Self::One(error) => Some(error.index),
        }
    }

    /// As a problem, without its place.
    pub(crate) fn problem(self) -> Problem {
        match self {
            Self::All(error) => emulator_problem(&error),
            Self::One(error) => Problem::new(
                codes::BAD_DOCUMENT,
                error.source.to_string(),
                "Correct the document; nothing of it was written.",
            ),
        }
    }
}

/// A partition key, written as JSON.
pub(crate) fn key(text: &str) -> Result<PartitionKey, Problem> {
    PartitionKey::from_json(text).map_err(|error| {
        Problem::new(
            codes::BAD_DOCUMENT,
            format!("`{text}` is no partition key"),
            "Write it as JSON: `\"ada\"`, `7`, `true`, `null`.",
        )
        .because(error)
    })
}

/// A collection as the settings describe it.
pub(crate) fn described<'c>(
    config: &'c Config,
    name: &str,
) -> Result<&'c config::Collection, Problem> {
    config
        .collections
        .get(name)
        .ok_or_else(|| unknown_collection(config, name))
}

pub(crate) fn setup(settings: &config::Collection) -> CollectionConfig {
    let config::Collection {
        place: _,
        partition_key,
        ranges,
        retention,
        ttl,
        previous_images,
    } = settings;
    CollectionConfig {
        partition_key: partition_key.clone(),
        ranges: *ranges,
        default_ttl: *ttl,
        retention: *retention,
        previous_images: *previous_images,
    }
}

pub(crate) fn options(program: &str) -> Options {
    Options::new(Arc::new(|| SystemClock.now()))
        .seed(uuid::Uuid::new_v4().as_u64_pair().0)
        .program(program)
}

pub(crate) fn emulator_problem(error: &EmulatorError) -> Problem {
    let (code, help) = match error {
        EmulatorError::Owned { .. } => (
            codes::ALREADY_RUNNING,
            "Stop that process, or set another `data_dir`.",
        ),
        EmulatorError::Journal(_) => (
            codes::JOURNAL_FAILED,
            "Nothing was changed. Restore the journal from a copy, or set another `data_dir` to begin anew.",
        ),
        EmulatorError::Changed { .. } | EmulatorError::Config { .. } => (
            codes::BAD_SETTING,
            "Correct `[collections.…]` in the settings.",
        ),
        _ => (codes::EMULATOR_FAILED, "See the message."),
    };
    Problem::new(code, error.to_string(), help)
}

/// A key's text as the command line takes it: JSON, else a string.
pub(crate) fn loose_key(text: &str) -> Result<PartitionKey, Problem> {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => key(text),
        Err(_) => Ok(PartitionKey::string(text)),
    }
}

/// A way to the collections: they are this process's own, or their owner's.
#[derive(Debug)]
pub(crate) struct Access(Handle);

impl Access {
    /// Opens the journal and makes the collections that the settings describe, or reaches the process that owns it.
    pub(crate) async fn open_to_write(config: &Config, program: &str) -> Result<Self, Problem> {
        let access = Self::open(config, program).await?;
        if let Handle::Owner(emulator) = &access.0 {
            Local(emulator.clone()).ensure(config)?;
        }
        Ok(access)
    }

    /// Opens the journal, or reaches the process that owns it.
    pub(crate) async fn open(config: &Config, program: &str) -> Result<Self, Problem> {
        let handle = Handle::open_or_connect(&config.data_dir, options(program))
            .await
            .map_err(access_problem)?;
        Ok(Self(handle))
    }

    /// Makes a group of writes: all or none.
    pub(crate) async fn write(&self, collection: &str, writes: Vec<Write>) -> Result<(), Problem> {
        self.0
            .write_many(collection, writes)
            .await
            .map_err(access_problem)?;
        Ok(())
    }

    /// The feeds of collections that this process owns.
    pub(crate) fn feeds(&self) -> BTreeMap<String, Arc<dyn Feed>> {
        match &self.0 {
            Handle::Owner(emulator) => Local(emulator.clone()).existing(),
            _ => BTreeMap::new(),
        }
    }

    /// The newest sequence number of each range, by [`Source::path`](crate::position::Source::path) and
    /// bounds.
    pub(crate) async fn ends(&self) -> Result<BTreeMap<(String, Bounds), u64>, Problem> {
        let mut ends = BTreeMap::new();
        for collection in self.0.collections().await.map_err(access_problem)? {
            let path = format!("{ACCOUNT}/{ACCOUNT}/{}", collection.name);
            for info in collection.ranges {
                let bounds = Bounds {
                    min: info.range.min,
                    max: info.range.max,
                };
                ends.insert((path.clone(), bounds), info.end);
            }
        }
        Ok(ends)
    }
}

/// What the emulator's collections are filed under, as account and as database.
const ACCOUNT: &str = "emulator";

fn access_problem(error: AccessError) -> Problem {
    match error {
        AccessError::Emulator(error) => emulator_problem(&error),
        AccessError::Refused {
            status, message, ..
        } if status < 500 => Problem::new(
            codes::BAD_DOCUMENT,
            message,
            "Correct it; nothing of the group was written.",
        ),
        error => Problem::new(
            codes::EMULATOR_FAILED,
            "the local collections cannot be used",
            "If another process owns them, see that it is still running: it serves them to others. Else look at the folder's owner, its rights and its free space.",
        )
        .because(error),
    }
}

/// Serves the collections to other processes of this machine, until it is dropped.
pub(crate) async fn serve(local: &Local, dir: &Path) -> Result<Server, Problem> {
    Server::start(local.0.clone(), dir).await.map_err(|error| {
        Problem::new(
            codes::EMULATOR_FAILED,
            "the local collections cannot be served on loopback",
            "`dev` commands need it while this process runs. Let it open a port on 127.0.0.1 and write to `data_dir`.",
        )
        .because(error)
    })
}
