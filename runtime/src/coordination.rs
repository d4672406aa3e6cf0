//! Who runs, and what each pump is doing: for people, nothing that correctness needs (P9).
//!
//! It stands in a file of its own, so that a slow transaction of a page cannot starve it. A missing
//! file is made anew.

pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod stored;

use std::fmt;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::position::{Bounds, ProjectionId};
use crate::store::StoreError;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its name, unique among those that live.
    pub name: String,
    /// This start of it.
    pub incarnation: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
}

/// What a pump is doing. Stored by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PumpState {
    /// Getting ready: taking the lease, pinning the start.
    Starting,
    /// Reading and applying.
    Running,
    /// Caught up: waiting for changes.
    Idle,
    /// A page failed and is read again after a while.
    Waiting,
    /// A hook does not come back.
    Hung,
    /// It stopped for good, with an error that a person must see to.
    Failed,
    /// It stopped as asked.
    Stopped,
}

impl PumpState {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Starting,
        Self::Running,
        Self::Idle,
        Self::Waiting,
        Self::Hung,
        Self::Failed,
        Self::Stopped,
    ];

    /// The stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Waiting => "waiting",
            Self::Hung => "hung",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for PumpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a pump reports of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PumpReport {
    /// The projection.
    pub projection: ProjectionId,
    /// The range.
    pub bounds: Bounds,
    /// What it is doing.
    pub state: PumpState,
    /// Since when.
    pub since: Timestamp,
    /// Attempts at the page in hand that failed.
    pub attempts: u32,
    /// What it waits for or failed with: the error chain in one line, empty where all is well.
    pub error: String,
    /// When it tries again, where it waits.
    pub retry_at: Option<Timestamp>,
    /// Changes applied since it started.
    pub applied: u64,
}

/// What one instance last said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roll {
    /// The instance.
    pub instance: Instance,
    /// Its last heartbeat.
    pub seen_at: Timestamp,
    /// Its pumps.
    pub pumps: Vec<PumpReport>,
}

/// Where instances and their pumps are written down.
pub trait Coordination: Send + Sync + 'static {
    /// A heartbeat: replaces what the instance said before.
    fn beat<'a>(
        &'a self,
        instance: &'a Instance,
        at: Timestamp,
        pumps: &'a [PumpReport],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// What every instance last said. Those that left stay until the next [`beat`](Self::beat) of another.
    fn rolls(&self) -> BoxFuture<'_, Result<Vec<Roll>, StoreError>>;
}

impl fmt::Debug for dyn Coordination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Coordination")
    }
}
