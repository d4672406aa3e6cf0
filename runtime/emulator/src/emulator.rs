//! The emulator: a journal, the collections in it, and the one process that owns it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

use serde_json::{Map, Value};

use crate::collection::{self, Collection};
use crate::compaction::{self, Compaction};
use crate::config::CollectionConfig;
use crate::document;
use crate::index::Index;
use crate::journal::{Journal, JournalError, Recovery};
use crate::medium::Medium;
use crate::options::{Clock, Options};
use crate::owner::{self, Lock, Owner, Taken};
use crate::record::{Act, Database, Frame, Setup};
use crate::replay::Replay;

const FILE: &str = "emulator.journal";
/// The database of the local collections.
pub const LOCAL: &str = "emulator";

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
    /// The database exists.
    #[error("there is a database \"{name}\" already")]
    DatabaseExists {
        /// Its name.
        name: String,
    },
    /// There is no such database.
    #[error("there is no database \"{name}\"")]
    UnknownDatabase {
        /// The asked name.
        name: String,
    },
    /// The collection exists.
    #[error("database \"{database}\" has a collection \"{name}\" already")]
    CollectionExists {
        /// Its database.
        database: String,
        /// Its name.
        name: String,
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
    /// What the places in the indexes mean. Changed only with all indexes locked.
    medium: RwLock<Arc<Medium>>,
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
    pub(crate) compaction: Compaction,
    databases: BTreeMap<String, Database>,
    /// Every living collection, by its number.
    pub(crate) collections: BTreeMap<u32, Weak<Collection>>,
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

    /// The medium. With an index locked, it is the one that the index's places are right in.
    pub(crate) fn medium(&self) -> Arc<Medium> {
        Arc::clone(&self.medium.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_medium(&self, medium: Arc<Medium>) {
        *self.medium.write().unwrap_or_else(PoisonError::into_inner) = medium;
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
    collections: Arc<RwLock<Catalog>>,
    recovery: Recovery,
}

/// The collections, by database and name.
type Catalog = BTreeMap<(String, String), Arc<Collection>>;

/// A database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseInfo {
    /// Its name.
    pub name: String,
    /// Its resource id.
    pub rid: String,
    /// When it was made, in seconds of the epoch.
    pub created_at: i64,
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
        compaction::clear_up(&path).map_err(io("clear up", dir.to_owned()))?;
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
        let mut found = Replay::default();
        let (journal, recovery) = Journal::open(
            Arc::clone(&medium),
            &path,
            options.sync,
            |offset, payload| found.take(offset, payload),
        )?;
        // Reopening must not repeat the etags of the last time, hence the journal's end.
        let now = (options.clock)();
        let mut seed = options.seed.to_le_bytes().to_vec();
        seed.extend_from_slice(&now.as_nanosecond().to_le_bytes());
        seed.extend_from_slice(&journal.end().to_le_bytes());
        let [low, high] = halves(crate::hash::murmur3(&seed));
        let core = Arc::new(Core {
            medium: RwLock::new(medium),
            path,
            clock: options.clock,
            writer: Mutex::new(Writer {
                compaction: Compaction::new(options.compact_from),
                journal,
                rng: fastrand::Rng::with_seed(low ^ high),
                databases: found.databases,
                collections: BTreeMap::new(),
            }),
            _lock: lock,
        });
        let mut collections = Catalog::new();
        let mut writer = core.writer();
        for (number, (setup, mut index)) in found.collections {
            index.ready();
            index.prune(now.as_second());
            index.announce();
            let name = (setup.owner.clone(), setup.name.clone());
            let collection = Arc::new(Collection::new(Arc::clone(&core), setup, index));
            writer
                .collections
                .insert(number, Arc::downgrade(&collection));
            collections.insert(name, collection);
        }
        drop(writer);
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

    /// The local collection of a name, made if it does not exist. Of one that exists, time to live,
    /// retention window and previous images may change; partition key and ranges may not.
    pub fn create_collection(
        &self,
        name: &str,
        config: CollectionConfig,
    ) -> Result<Arc<Collection>, EmulatorError> {
        check(name, &config)?;
        let mut writer = self.core.writer();
        if let Some(collection) = self.get(LOCAL, name) {
            self.reconfigure(&mut writer, &collection, config)?;
            return Ok(collection);
        }
        if !writer.databases.contains_key(LOCAL) {
            self.make_database(&mut writer, LOCAL)?;
        }
        self.make(&mut writer, LOCAL, name, config, Map::new())
    }

    /// Makes a collection in a database, with what else its maker says of it, to be shown again.
    pub fn create_in(
        &self,
        database: &str,
        name: &str,
        config: CollectionConfig,
        properties: Map<String, Value>,
    ) -> Result<Arc<Collection>, EmulatorError> {
        check(name, &config)?;
        let mut writer = self.core.writer();
        if !writer.databases.contains_key(database) {
            let name = database.to_owned();
            return Err(EmulatorError::UnknownDatabase { name });
        }
        if self.get(database, name).is_some() {
            return Err(EmulatorError::CollectionExists {
                database: database.to_owned(),
                name: name.to_owned(),
            });
        }
        self.make(&mut writer, database, name, config, properties)
    }

    /// Changes what may change of a collection's set-up.
    pub fn configure(
        &self,
        collection: &Collection,
        config: CollectionConfig,
    ) -> Result<(), EmulatorError> {
        check(collection.name(), &config)?;
        self.reconfigure(&mut self.core.writer(), collection, config)
    }

    fn make(
        &self,
        writer: &mut Writer,
        database: &str,
        name: &str,
        config: CollectionConfig,
        properties: Map<String, Value>,
    ) -> Result<Arc<Collection>, EmulatorError> {
        let last = writer.collections.keys().next_back();
        let setup = Setup {
            number: last.map_or(0, |last| last + 1),
            name: name.to_owned(),
            owner: database.to_owned(),
            database: writer.databases[database].number,
            collection: writer.rng.u32(..) | 0x8000_0000,
            config,
            properties,
            at: self.core.now(),
        };
        let number = setup.number;
        let mut frame = Frame::setup(&setup, writer.journal.next_payload());
        writer.journal.append(&mut frame.bytes)?;
        let index = Index::new(setup.config.clone());
        let collection = Arc::new(Collection::new(Arc::clone(&self.core), setup, index));
        writer
            .collections
            .insert(number, Arc::downgrade(&collection));
        let name = (database.to_owned(), name.to_owned());
        self.write_catalog().insert(name, Arc::clone(&collection));
        Ok(collection)
    }

    /// Deletes a collection and all in it.
    pub fn delete_in(&self, database: &str, name: &str) -> Result<(), EmulatorError> {
        let mut writer = self.core.writer();
        let collection = self.collection_in(database, name)?;
        let number = collection.number();
        writer.append(&Act::DropCollection { number })?;
        self.forget(&mut writer, &collection);
        Ok(())
    }

    fn forget(&self, writer: &mut Writer, collection: &Collection) {
        let name = (
            collection.database().to_owned(),
            collection.name().to_owned(),
        );
        self.write_catalog().remove(&name);
        writer.collections.remove(&collection.number());
        collection.write_index().drop_all();
    }

    /// Makes a database.
    pub fn create_database(&self, name: &str) -> Result<DatabaseInfo, EmulatorError> {
        document::check_id(name).map_err(|reason| EmulatorError::Config {
            name: name.to_owned(),
            reason: reason.replace("\"id\"", "name"),
        })?;
        let mut writer = self.core.writer();
        if writer.databases.contains_key(name) {
            let name = name.to_owned();
            return Err(EmulatorError::DatabaseExists { name });
        }
        self.make_database(&mut writer, name)
    }

    fn make_database(
        &self,
        writer: &mut Writer,
        name: &str,
    ) -> Result<DatabaseInfo, EmulatorError> {
        let database = Database {
            name: name.to_owned(),
            number: writer.rng.u32(..),
            at: self.core.now(),
        };
        writer.append(&Act::Database(database.clone()))?;
        let info = info(&database);
        writer.databases.insert(name.to_owned(), database);
        Ok(info)
    }

    /// Deletes a database and all collections in it.
    pub fn delete_database(&self, name: &str) -> Result<(), EmulatorError> {
        let mut writer = self.core.writer();
        if !writer.databases.contains_key(name) {
            let name = name.to_owned();
            return Err(EmulatorError::UnknownDatabase { name });
        }
        let act = Act::DropDatabase {
            name: name.to_owned(),
        };
        writer.append(&act)?;
        writer.databases.remove(name);
        for collection in self.collections_in(name) {
            self.forget(&mut writer, &collection);
        }
        Ok(())
    }

    /// All databases, by name.
    pub fn databases(&self) -> Vec<DatabaseInfo> {
        self.core.writer().databases.values().map(info).collect()
    }

    /// The collections of a database, by name.
    pub fn collections_in(&self, database: &str) -> Vec<Arc<Collection>> {
        let catalog = self.read_catalog();
        catalog
            .values()
            .filter(|collection| collection.database() == database)
            .cloned()
            .collect()
    }

    /// The collection of a name in a database.
    pub fn collection_in(
        &self,
        database: &str,
        name: &str,
    ) -> Result<Arc<Collection>, EmulatorError> {
        self.get(database, name)
            .ok_or_else(|| EmulatorError::Unknown {
                name: name.to_owned(),
                names: self
                    .collections_in(database)
                    .iter()
                    .map(|collection| collection.name().to_owned())
                    .collect(),
            })
    }

    /// The local collection of a name.
    pub fn collection(&self, name: &str) -> Result<Arc<Collection>, EmulatorError> {
        self.collection_in(LOCAL, name)
    }

    /// All local collections, by name.
    pub fn collections(&self) -> Vec<Arc<Collection>> {
        self.collections_in(LOCAL)
    }

    fn read_catalog(&self) -> RwLockReadGuard<'_, Catalog> {
        self.collections
            .read()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn write_catalog(&self) -> RwLockWriteGuard<'_, Catalog> {
        self.collections
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, database: &str, name: &str) -> Option<Arc<Collection>> {
        let name = (database.to_owned(), name.to_owned());
        self.read_catalog().get(&name).cloned()
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
        match self.get(LOCAL, name) {
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
        let asked = config.partition_key.join(", ");
        let stored = stored.partition_key.join(", ");
        return Err(changed("partition key", stored, asked));
    }
    if stored.ranges != config.ranges {
        let asked = config.ranges.to_string();
        return Err(changed("ranges =", stored.ranges.to_string(), asked));
    }
    Ok(())
}

/// Checks the set-up of a collection.
fn check(name: &str, config: &CollectionConfig) -> Result<(), EmulatorError> {
    document::check_id(name)
        .map_err(|reason| reason.replace("\"id\"", "name"))
        .and_then(|()| config.check())
        .map_err(|reason| EmulatorError::Config {
            name: name.to_owned(),
            reason,
        })
}

fn info(database: &Database) -> DatabaseInfo {
    DatabaseInfo {
        name: database.name.clone(),
        rid: collection::rid(&[&database.number.to_be_bytes()]),
        created_at: database.at,
    }
}

impl Writer {
    /// Writes down what happened to something other than documents.
    pub(crate) fn append(&mut self, act: &Act) -> Result<(), JournalError> {
        let mut frame = Frame::act(act, self.journal.next_payload());
        self.journal.append(&mut frame.bytes)
    }

    pub(crate) fn databases(&self) -> impl Iterator<Item = &Database> {
        self.databases.values()
    }
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
