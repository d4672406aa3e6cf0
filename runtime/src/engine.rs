//! From declared projections to running pumps.
//!
//! [`Engine::prepare`] checks everything that can be checked before a change is read, all problems at once, and
//! makes the checkpoints: when it returns, every start position is stored (I6). [`Ready::start`]
//! sets the pumps going; [`Running`] watches and ends them.

mod checkpoints;
pub(crate) mod prepare;
mod running;

use std::sync::Arc;
use std::time::Duration;

use projectionist::extract::state::States;
use projectionist::projection::Start;
use projectionist::registry::ProjectionDef;

use crate::clock::Clock;
use crate::coordination::{Coordination, Instance};
use crate::feed::Feed;
use crate::store::Store;

pub use self::prepare::{Engine, Ready};
pub use self::running::{Running, Summary, Until};

/// The page size where neither attribute nor settings say one.
pub const DEFAULT_BATCH: u32 = 100;

/// Everything that the engine runs on.
#[derive(Debug)]
pub struct Setup {
    /// The projections, each with its feed.
    pub projections: Vec<Prepared>,
    /// What the program shares with its hooks.
    pub states: States,
    /// Where checkpoints, letters and read models live.
    pub store: Arc<dyn Store>,
    /// Where instances and pumps are written down.
    pub coordination: Arc<dyn Coordination>,
    /// This process.
    pub instance: Instance,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Seed of the jitter.
    pub seed: u64,
    /// Limits and intervals.
    pub limits: Limits,
    /// What is done about the tables of row projections.
    pub schema: SchemaPolicy,
}

/// What is done about the tables of row projections at start-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaPolicy {
    /// They are made, and columns that may be `NULL` are added. Any other difference is an error.
    #[default]
    Apply,
    /// Any difference is an error.
    Check,
    /// Nobody looks: they are somebody else's affair.
    Off,
}

/// A projection and what settings say of it.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its declaration.
    pub def: &'static ProjectionDef,
    /// Where it begins without a checkpoint.
    pub start: Start,
    /// Who says so, for messages: `its attribute`, `projector.toml:12`, `the default`.
    pub start_origin: String,
    /// The page size.
    pub batch: u32,
    /// Its collection's feed.
    pub feed: Arc<dyn Feed>,
}

/// Limits and intervals.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long an idle pump waits before it asks the feed again. A feed that can tell wakes it earlier.
    pub poll: Duration,
    /// How long one hook call may take. Past it the page is rolled back and read again.
    pub hook: Duration,
    /// How long a stop waits for pages in flight.
    pub drain: Duration,
    /// The longest pause after a first failure.
    pub backoff_first: Duration,
    /// The longest pause after any failure.
    pub backoff_max: Duration,
    /// How often pumps are written down for others to see.
    pub heartbeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(5),
            hook: Duration::from_secs(30),
            drain: Duration::from_secs(25),
            backoff_first: Duration::from_millis(200),
            backoff_max: Duration::from_mins(1),
            heartbeat: Duration::from_secs(1),
        }
    }
}
