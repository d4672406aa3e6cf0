//! The emulator: a journal, the collections in it, and the one process that owns it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::collection::Collection;
use crate::config::CollectionConfig;
use crate::document;
use crate::index::Index;
use crate::journal::{Journal, JournalError, Recovery};
use crate::medium::Medium;
use crate::options::{Clock, Options};
use crate::owner::{self, Lock, Owner, Taken};
use crate::record::{Frame, Record, Setup};

const FILE: &str = "emulator.journal";

/// Why an emulator does not open or a collection cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// Another process owns the journal.
    #[error(
        "the collection store in {} is in use by {}; stop it, or reach it through that process", dir.display(), shown(owner.as_ref())
    )]
    Owned {
        /// The directory.
        dir: PathBuf,
        /// The process, as far as it has said.
        owner: Option<Owner>,
    },
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The set-up of a collection is none.
    #[error("collection \"{name}\": {reason}")]
    Config {
        /// The collection.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A collection is set up in another way than its journal says.
    #[error(
        "collection \"{name}\" has {what} {stored} in its journal, but {asked} is asked for; this cannot change: restore the setting, or start with an empty data directory"
    )]
    Changed {
        /// The collection.
        name: String,
        /// What differs.
        what: &'static str,
        /// As it was created.
        stored: String,
        /// As it is asked for now.
        asked: String,
    },
    /// There is no such collection.
    #[error("there is no collection \"{name}\"; {}", existing(names))]
    Unknown {
        /// The asked name.
        name: String,
        /// Those that exist.
        names: Vec<String>,
    },
}

fn shown(owner: Option<&Owner>) -> String {
    owner.map_or_else(|| "another process".to_owned(), Owner::to_string)
}

fn existing(names: &[String]) -> String {
    if names.is_empty() {
        "none was created yet".to_owned()
    } else {
        format!("there are: {}", names.join(", "))
    }
}

/// What all collections share.
pub(crate) struct Core {
    pub(crate) medium: Arc<Medium>,
    pub(crate) path: PathBuf,
    clock: Clock,
    writer: Mutex<Writer>,
    _lock: Option<Lock>,
}

/// What writers take turns at.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) journal: Journal,
    pub(crate) rng: fastrand::Rng,
}

impl Core {
    pub(crate) fn now(&self) -> i64 {
        (self.clock)().as_second()
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        // The journal's end and the index only move after an append, so a panic before leaves
        // both as they were.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A store of collections with change feeds.
#[derive(Clone, Debug)]
pub struct Emulator {
    core: Arc<Core>,
    collections: Arc<RwLock<BTreeMap<String, Arc<Collection>>>>,
    recovery: Recovery,
}

impl Emulator {
    /// Opens the journal in a directory, or makes one, and owns it.
    pub fn open(dir: &Path, options: Options) -> Result<Self, EmulatorError> {
        let io = |action, path: PathBuf| {
            move |source| JournalError::Io {
                action,
                path,
                source,
            }
        };
        fs::create_dir_all(dir).map_err(io("create", dir.to_owned()))?;
        let now = (options.clock)();
        let lock =
            match Lock::take(dir, &options.program, now).map_err(io("lock", owner::path(dir)))? {
                Taken::Mine(lock) => lock,
                Taken::Other(owner) => {
                    return Err(EmulatorError::Owned {
                        dir: dir.to_owned(),
                        owner,
                    });
                }
            };
        let path = dir.join(FILE);
        let is_new = !path.exists();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io("open", path.clone()))?;
        if is_new {
            sync_dir(dir).map_err(io("sync", dir.to_owned()))?;
        }
        Self::on(Medium::File(file), path, Some(lock), options)
    }

    /// An emulator without a file, for tests.
    #[expect(clippy::missing_panics_doc, reason = "nothing in memory can fail")]
    pub fn in_memory(options: Options) -> Self {
        let medium = Medium::Memory(RwLock::default());
        Self::on(medium, PathBuf::from("(memory)"), None, options)
            .expect("a new journal in memory has nothing that could fail")
    }

    /// Whether a directory has a journal.
    pub fn exists(dir: &Path) -> bool {
        dir.join(FILE).exists()
    }

    pub(crate) fn on(
        medium: Medium,
        path: PathBuf,
        lock: Option<Lock>,
        options: Options,
    ) -> Result<Self, EmulatorError> {
        let medium = Arc::new(medium);
        let mut found: Vec<(Setup, Index)> = Vec::new();
        let (journal, recovery) = Journal::open(
            Arc::clone(&medium),
            &path,
            options.sync,
            |offset, payload| replay(&mut found, offset, payload),
        )?;
        // Reopening must not repeat the etags of the last time, hence the journal's end.
        let now = (options.clock)();
        let mut seed = options.seed.to_le_bytes().to_vec();
        seed.extend_from_slice(&now.as_nanosecond().to_le_bytes());
        seed.extend_from_slice(&journal.end().to_le_bytes());
        let [low, high] = halves(crate::hash::murmur3(&seed));
        let core = Arc::new(Core {
            medium,
            path,
            clock: options.clock,
            writer: Mutex::new(Writer {
                journal,
                rng: fastrand::Rng::with_seed(low ^ high),
            }),
            _lock: lock,
        });
        let collections = found
            .into_iter()
            .map(|(setup, mut index)| {
                index.prune(now.as_second());
                index.announce();
                let name = setup.name.clone();
                (
                    name,
                    Arc::new(Collection::new(Arc::clone(&core), setup, index)),
                )
            })
            .collect();
        Ok(Self {
            core,
            collections: Arc::new(RwLock::new(collections)),
            recovery,
        })
    }

    /// What opening found in the journal.
    pub fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// The collection of a name, made if it does not exist. Of one that exists, time to live,
    /// retention window and previous images may change; partition key and ranges may not.
    #[expect(
        clippy::missing_panics_doc,
        reason = "no one makes four billion collections"
    )]
    pub fn create_collection(
        &self,
        name: &str,
        config: CollectionConfig,
    ) -> Result<Arc<Collection>, EmulatorError> {
        let invalid = |reason| EmulatorError::Config {
            name: name.to_owned(),
            reason,
        };
        document::check_id(name)
            .map_err(|reason| reason.replace("\"id\"", "name"))
            .and_then(|()| config.check())
            .map_err(invalid)?;
        let mut writer = self.core.writer();
        if let Some(collection) = self.get(name) {
            self.reconfigure(&mut writer, &collection, config)?;
            return Ok(collection);
        }
        let mut collections = self
            .collections
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let setup = Setup {
            number: u32::try_from(collections.len()).expect("collections are few"),
            name: name.to_owned(),
            database: writer.rng.u32(..),
            collection: writer.rng.u32(..) | 0x8000_0000,
            config,
            at: self.core.now(),
        };
        let mut frame = Frame::setup(&setup, writer.journal.next_payload());
        writer.journal.append(&mut frame.bytes)?;
        let index = Index::new(setup.config.clone());
        let collection = Arc::new(Collection::new(Arc::clone(&self.core), setup, index));
        collections.insert(name.to_owned(), Arc::clone(&collection));
        Ok(collection)
    }

    /// The collection of a name.
    pub fn collection(&self, name: &str) -> Result<Arc<Collection>, EmulatorError> {
        self.get(name).ok_or_else(|| EmulatorError::Unknown {
            name: name.to_owned(),
            names: self
                .collections()
                .iter()
                .map(|collection| collection.name().to_owned())
                .collect(),
        })
    }

    /// All collections, by name.
    pub fn collections(&self) -> Vec<Arc<Collection>> {
        let collections = self
            .collections
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        collections.values().cloned().collect()
    }

    fn get(&self, name: &str) -> Option<Arc<Collection>> {
        let collections = self
            .collections
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        collections.get(name).cloned()
    }

    /// The collection of a name as it is, made where there is none. Its set-up is compared in what cannot change, and
    /// left as it is in the rest: for whoever looks or writes and does not own the settings.
    ///
    /// # Errors
    ///
    /// As [`create_collection`](Self::create_collection).
    pub fn ensure_collection(
        &self,
        name: &str,
        config: CollectionConfig,
    ) -> Result<Arc<Collection>, EmulatorError> {
        match self.get(name) {
            Some(collection) => {
                unchangeable(&collection, &config)?;
                Ok(collection)
            }
            None => self.create_collection(name, config),
        }
    }

    fn reconfigure(
        &self,
        writer: &mut Writer,
        collection: &Collection,
        config: CollectionConfig,
    ) -> Result<(), EmulatorError> {
        let mut setup = collection.setup();
        if setup.config == config {
            return Ok(());
        }
        unchangeable(collection, &config)?;
        setup.config = config;
        setup.at = self.core.now();
        let mut frame = Frame::setup(&setup, writer.journal.next_payload());
        writer.journal.append(&mut frame.bytes)?;
        collection.write_index().reconfigure(setup.config);
        Ok(())
    }
}

/// Compares what of a collection's set-up stands for its life.
fn unchangeable(collection: &Collection, config: &CollectionConfig) -> Result<(), EmulatorError> {
    let stored = collection.config();
    let changed = |what, stored: String, asked: String| EmulatorError::Changed {
        name: collection.name().to_owned(),
        what,
        stored,
        asked,
    };
    if stored.partition_key != config.partition_key {
        let asked = config.partition_key.clone();
        return Err(changed("partition key", stored.partition_key, asked));
    }
    if stored.ranges != config.ranges {
        let asked = config.ranges.to_string();
        return Err(changed("ranges =", stored.ranges.to_string(), asked));
    }
    Ok(())
}

/// Takes one frame of the journal into the indexes.
fn replay(found: &mut Vec<(Setup, Index)>, offset: u64, payload: &[u8]) -> Result<(), String> {
    let at = |number: u32| usize::try_from(number).expect("a number of 32 bits is an index");
    match Record::read(payload, offset)? {
        Record::Setup(setup) => {
            let number = at(setup.number);
            if let Some((_, index)) = found.get_mut(number) {
                index.reconfigure(setup.config);
            } else if number == found.len() {
                let index = Index::new(setup.config.clone());
                found.push((setup, index));
            } else {
                return Err(format!("collection number {number} comes too early"));
            }
        }
        Record::Changes {
            collection,
            entries,
        } => {
            let (_, index) = found
                .get_mut(at(collection))
                .ok_or_else(|| format!("collection number {collection} was never made"))?;
            for entry in entries {
                let (change, location, bytes) = entry?;
                let text = |range| {
                    std::str::from_utf8(&bytes[range])
                        .map_err(|_| "a change's text is not UTF-8".to_owned())
                };
                let identity = document::identity(text(change.partition_key)?, text(change.id)?);
                let range = index
                    .ranges
                    .get(index.at(change.head.epk))
                    .ok_or("a change lies outside the key space")?;
                if change.head.lsn < range.end {
                    return Err(format!(
                        "sequence number {} follows {}",
                        change.head.lsn, range.end
                    ));
                }
                index.apply(identity, &change.head, location);
            }
        }
    }
    Ok(())
}

fn halves(bits: u128) -> [u64; 2] {
    let bytes = bits.to_le_bytes();
    let half = |at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes are eight"))
    };
    [half(0), half(8)]
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
