//! Settings: defaults < `projector.toml` < environment (`PROJECTOR_*`) < flags.
//!
//! Every value keeps its origin, and all mistakes are told at once, each with its name and origin:
//! a wrong setting stops the start instead of being ignored.

mod account;
mod key;
mod parse;
mod places;
mod reader;
mod reference;
mod sources;
#[cfg(test)]
mod tests;
mod user;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use projectionist::projection::Start;
use projectionist::registry::Registry;
use serde_json::Value;

use crate::engine::Limits;
use crate::engine::SchemaPolicy;
use crate::problem::Problems;

pub use self::account::{Account, Auth, Place, Secret};
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
pub(crate) use self::reader::unknown_projection;
pub use self::reference::reference;
pub use self::sources::Sources;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// A line of the settings file.
    File {
        /// The file, as it was named.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Env(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// One value as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name: `collections.store.retention`.
    pub name: String,
    /// What was written. None: not set, and there is no default.
    pub value: Option<Value>,
    /// Who wrote it.
    pub origin: Origin,
    /// Whether it must not be shown.
    pub secret: bool,
}

impl Setting {
    /// The value as people may see it.
    pub fn shown(&self) -> Value {
        match &self.value {
            Some(_) if self.secret => Value::from("********"),
            Some(value) => value.clone(),
            None => Value::Null,
        }
    }
}

/// Where changes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedKind {
    /// The local emulator, in this process.
    Emulator,
    /// Accounts in Azure Cosmos DB.
    Cosmos,
}

/// Where checkpoints and letters live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreKind {
    /// Two SQLite files in the data directory.
    Sqlite,
    /// A database of PostgreSQL.
    Postgres,
    /// This process's memory: for tests, everything is lost at its end.
    Memory,
}

/// The database of PostgreSQL, `[postgres]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Postgres {
    /// Its URL: `postgres://user:password@host/database`.
    pub url: Option<Secret>,
    /// How many connections pages have together.
    pub connections: u32,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFormat {
    /// For people on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}

/// A collection, `[collections.NAME]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collection {
    /// Where it lies, if the feed is that of Azure Cosmos DB. All below is the emulator's.
    pub place: Option<Place>,
    /// The paths of the partition key: one, or up to three where it is hierarchical.
    pub partition_key: Vec<String>,
    /// How many physical ranges it has when it is made.
    pub ranges: u32,
    /// The window of its all-versions feed.
    pub retention: Option<Duration>,
    /// Time to live of documents that do not say, in seconds. -1: only what a document says counts.
    pub ttl: Option<i32>,
    /// Whether the all-versions feed carries previous versions.
    pub previous_images: bool,
}

/// What settings say of a projection, `[projections.NAME]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Its start, and who says so.
    pub start: Option<(Start, Origin)>,
    /// Its page size.
    pub batch: Option<u32>,
}

/// All settings, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where changes come from. None: not said.
    pub feed: Option<FeedKind>,
    /// Where checkpoints and letters live. None: not said.
    pub store: Option<StoreKind>,
    /// Where local data lives.
    pub data_dir: PathBuf,
    /// The database of PostgreSQL, and how many connections to it.
    pub postgres: Postgres,
    /// This instance's name, if it is not to be unique for each process.
    pub instance: Option<String>,
    /// Limits and intervals of the engine.
    pub limits: Limits,
    /// After how many failed attempts at one page `run --once` gives up.
    pub once_attempts: u32,
    /// Which log lines to write.
    pub log: String,
    /// How they look.
    pub log_format: LogFormat,
    /// What is done about the tables of row projections.
    pub schema: SchemaPolicy,
    /// The accounts in Azure Cosmos DB, by the names that settings give them.
    pub accounts: BTreeMap<String, Account>,
    /// The collections, by their logical names.
    pub collections: BTreeMap<String, Collection>,
    /// What settings say of projections.
    pub projections: BTreeMap<String, Overrides>,
    /// The settings file that was read.
    pub file: Option<PathBuf>,
    /// Every value with its origin, in the order in which to show them.
    pub settings: Vec<Setting>,
}

impl Config {
    /// Reads and checks all settings.
    ///
    /// # Errors
    ///
    /// All mistakes at once.
    pub fn load(sources: &Sources, registry: &Registry) -> Result<Self, Problems> {
        reader::read(sources, registry)
    }

    /// Who says a setting.
    pub fn origin(&self, name: &str) -> Origin {
        self.settings
            .iter()
            .find(|setting| setting.name == name)
            .map_or(Origin::Default, |setting| setting.origin.clone())
    }
}
