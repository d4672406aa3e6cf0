//! How an emulator runs: where time and randomness come from, and what a write survives.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Where time comes from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How an emulator runs.
#[derive(Clone)]
pub struct Options {
    /// Where time comes from.
    pub clock: Clock,
    /// What etags and resource ids are made from. Under one seed, one clock and the same calls
    /// the journal is the same to the byte.
    pub seed: u64,
    /// Whether each write is on the disk before it is answered. Without it what was answered
    /// survives the end of the process, also a `kill -9`, but not that of the machine, after
    /// which the journal may even be found corrupt.
    pub sync: bool,
    /// What this process is, for others that find the journal owned.
    pub program: String,
    /// The size in bytes from which a journal is compacted, once less than half of it is still needed.
    pub compact_from: u64,
}

impl Options {
    /// Synced writes, seed 0, under this clock.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            seed: 0,
            sync: true,
            program: "emulator".to_owned(),
            compact_from: 64 * 1024 * 1024,
        }
    }

    /// With a seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With or without synced writes.
    #[must_use]
    pub fn sync(mut self, sync: bool) -> Self {
        self.sync = sync;
        self
    }

    /// With a size from which the journal is compacted.
    #[must_use]
    pub fn compact_from(mut self, bytes: u64) -> Self {
        self.compact_from = bytes;
        self
    }

    /// With the name of what this process runs.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.program = program.into();
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            clock: _,
            seed,
            sync,
            program,
            compact_from,
        } = self;
        f.debug_struct("Options")
            .field("seed", seed)
            .field("sync", sync)
            .field("program", program)
            .field("compact_from", compact_from)
            .finish_non_exhaustive()
    }
}
