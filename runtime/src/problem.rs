//! What a user is told: a stable code, a sentence, what it concerns, and the way out.

use std::fmt;

use projectionist::verdict::BoxError;

/// The stable codes.
#[expect(
    missing_docs,
    reason = "the book's table of errors says what each means"
)]
pub mod codes {
    pub const MISSING_STATE: &str = "missing-state";
    pub const WRONG_DATABASE: &str = "wrong-database";
    pub const START_NOT_POSSIBLE: &str = "start-not-possible";
    pub const NO_RETENTION: &str = "no-retention";
    pub const INIT_FAILED: &str = "init-failed";
    pub const COLLECTION_RECREATED: &str = "collection-recreated";
    pub const COLLECTION_MISSING: &str = "collection-missing";
    pub const MODE_CHANGED: &str = "mode-changed";
    pub const RANGES_UNCOVERED: &str = "ranges-uncovered";
    pub const RANGE_GONE: &str = "range-gone";
    pub const STORE_BUSY: &str = "store-busy";
    pub const STORE_READ_ONLY: &str = "store-read-only";
    pub const STORE_SCHEMA: &str = "store-schema";
    pub const STORE_CORRUPT: &str = "store-corrupt";
    pub const STORE_FAILED: &str = "store-failed";
    pub const DDL_FAILED: &str = "ddl-failed";
    pub const RETENTION_EXCEEDED: &str = "retention-exceeded";
    pub const BEYOND_END: &str = "beyond-end";
    pub const BAD_POSITION: &str = "bad-position";
    pub const FEED_UNAVAILABLE: &str = "feed-unavailable";
    pub const LEASE_LOST: &str = "lease-lost";
    pub const GAVE_UP: &str = "gave-up";
    pub const HOOK_BLOCKED: &str = "hook-blocked";
    pub const PUMP_PANICKED: &str = "pump-panicked";
}

/// A problem that stops a command or a projection.
#[derive(Debug)]
pub struct Problem {
    /// The stable code: `duplicate-projection`. The book lists them all.
    pub code: &'static str,
    /// What is wrong, and what it concerns: a lower-case fragment.
    pub message: String,
    /// The way out, as a sentence.
    pub help: String,
    /// What it comes from.
    pub source: Option<BoxError>,
}

impl Problem {
    /// A problem with its way out.
    pub fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: help.into(),
            source: None,
        }
    }

    /// The same, with what it comes from.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Everything that is wrong, at once. Never empty.
#[derive(Debug)]
pub struct Problems(pub Vec<Problem>);

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
