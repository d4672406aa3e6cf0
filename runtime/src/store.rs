//! Where checkpoints and letters live, and the transaction of effects.
//!
//! The checkpoint row holds (epoch, version, position) beside the read model. A commit is a
//! compare-and-set on epoch and version, in the transaction of the effects, as its last statement
//! before COMMIT (P6): I1, I2 and I3 rest on it. One conformance suite holds for all stores.

mod bulk;
pub mod conformance;
pub mod memory;
mod once;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod rows;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::error::Error;
use std::fmt;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::extract::tx::{Transaction, TxError};
use projectionist::needs::Mode;
use projectionist::sql::Value;
use projectionist::verdict::BoxError;

pub use self::bulk::Bulk;
pub use self::once::{Group, Once};
use crate::letters::{Letter, LetterFilter, NewLetter};
use crate::position::{Bounds, LeaseId, Position, ProjectionId};

/// A checkpoint row: everything correctness needs to know of a range (P6, P9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The lease it belongs to.
    pub lease: LeaseId,
    /// The projection.
    pub projection: ProjectionId,
    /// The resource id of the collection that the position belongs to (P1).
    pub rid: String,
    /// The range's bounds.
    pub bounds: Bounds,
    /// The mode that the position belongs to.
    pub mode: Mode,
    /// Raised by each taking.
    pub epoch: u64,
    /// Raised by each commit.
    pub version: u64,
    /// The start option by which it was made, for people: `beginning`, `now`, a time.
    pub start: String,
    /// Where to go on. None: nothing was read yet, and `start` says where to begin; never for `now`,
    /// whose pinned position is stored before the first read (P12, I6).
    pub position: Option<Position>,
    /// When it was last written.
    pub changed_at: Timestamp,
}

/// A checkpoint about to be made.
#[derive(Clone, Debug)]
pub struct NewCheckpoint {
    /// The projection.
    pub projection: ProjectionId,
    /// The resource id of the collection.
    pub rid: String,
    /// The range's bounds.
    pub bounds: Bounds,
    /// The mode.
    pub mode: Mode,
    /// The start option.
    pub start: String,
    /// The pinned position.
    pub position: Option<Position>,
    /// The time.
    pub at: Timestamp,
}

/// A step of a checkpoint: a compare-and-set on epoch and version.
#[derive(Clone, Debug)]
pub struct Advance {
    /// The lease.
    pub lease: LeaseId,
    /// The epoch under which the page was read.
    pub epoch: u64,
    /// The version that the page began at; the commit raises it by one.
    pub version: u64,
    /// The position after the page.
    pub position: Position,
    /// The time.
    pub at: Timestamp,
}

/// A lease to be replaced by one for each part of its range: a compare-and-set on epoch and version (P19).
#[derive(Clone, Debug)]
pub struct Split {
    /// The parent.
    pub lease: LeaseId,
    /// The epoch under which its owner found the range split.
    pub epoch: u64,
    /// The version that its checkpoint stands at.
    pub version: u64,
    /// The bounds of the children, in their order. Together they are the parent's.
    pub children: Vec<Bounds>,
    /// The time.
    pub at: Timestamp,
}

impl Split {
    /// The children of a parent.
    ///
    /// # Errors
    ///
    /// Where the parts do not make up its range, or there is only one.
    pub(crate) fn divide(&self, parent: &Checkpoint) -> Result<Vec<Checkpoint>, SplitError> {
        if self.children.len() < 2 || !parent.bounds.is_tiled_by(&self.children) {
            return Err(SplitError::Untiled {
                parent: parent.bounds.clone(),
                children: self.children.clone(),
            });
        }
        let child = |bounds: &Bounds| Checkpoint {
            lease: parent.projection.lease(bounds),
            bounds: bounds.clone(),
            changed_at: self.at,
            ..parent.clone()
        };
        Ok(self.children.iter().map(child).collect())
    }
}

/// A result of a query, for people and tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

/// A store of checkpoints, letters and read models.
pub trait Store: Send + Sync + 'static {
    /// The database's name, as [`Transaction::database`] says it.
    fn database(&self) -> &'static str;

    /// Runs DDL in one transaction. It must be repeatable. `of` names whose it is, for errors.
    fn define<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Tries DDL as [`define`](Self::define) would, and rolls it back.
    fn rehearse<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Whether hooks can run SQL in its transactions.
    fn has_sql(&self) -> bool {
        true
    }

    /// All checkpoints, sorted by projection and bounds.
    fn checkpoints(&self) -> BoxFuture<'_, Result<Vec<Checkpoint>, StoreError>>;

    /// Makes a checkpoint at epoch 0 and version 0 where there is none; else changes nothing. The row, either way: a
    /// checkpoint always wins over a start option.
    ///
    /// # Errors
    ///
    /// [`StoreError::Overlap`] where another lease of the projection has a part of the range, so that nobody who still
    /// has an old list of ranges brings a parent back beside its children (I5).
    fn create<'a>(
        &'a self,
        new: &'a NewCheckpoint,
    ) -> BoxFuture<'a, Result<Checkpoint, StoreError>>;

    /// Takes a lease: raises the epoch in the checkpoint row, so that no earlier owner can commit
    /// any more (I3). None where there is no such row.
    fn take<'a>(
        &'a self,
        lease: &'a LeaseId,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, StoreError>>;

    /// Replaces a lease by one for each part of its range, all in one transaction: the parent's row is gone, and each
    /// child has its position, its start, its epoch and its version (P13, P19).
    ///
    /// The parent's earlier owners find no row to commit to (I3). A child goes on counting where its parent stood, so that along a
    /// line of leases no pair of epoch and version ever comes twice; its first taker raises the epoch.
    ///
    /// # Errors
    ///
    /// Nothing is changed then, save where the answer to the COMMIT was lost: the checkpoints tell.
    fn split<'a>(&'a self, split: &'a Split) -> BoxFuture<'a, Result<Vec<Checkpoint>, SplitError>>;

    /// Begins the transaction of a page's effects.
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn Effects>, StoreError>>;

    /// Writes a page's rows and advances its checkpoint in one statement. The commit fails as that of
    /// [`Effects::commit`] does. None: it was not tried, or the values of some row are refused; nothing is stored then.
    fn write_once<'a>(
        &'a self,
        once: &'a Once,
        groups: Vec<Group<'a>>,
        advance: &'a Advance,
    ) -> BoxFuture<'a, Option<Result<(), CommitError>>> {
        let _ = (once, groups, advance);
        Box::pin(std::future::ready(None))
    }

    /// Letters, oldest first.
    fn letters<'a>(
        &'a self,
        filter: &'a LetterFilter,
    ) -> BoxFuture<'a, Result<Vec<Letter>, StoreError>>;

    /// One letter.
    fn letter(&self, id: i64) -> BoxFuture<'_, Result<Option<Letter>, StoreError>>;

    /// Whether an error of the driver itself means a lock or a lost session (P26): hooks with a native
    /// transaction return such errors.
    fn is_transient(&self, error: &(dyn Error + 'static)) -> bool {
        let _ = error;
        false
    }

    /// Closes its files in good order, where it has any. A later call opens them again.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Runs one query outside any page, for people and tests. It must not write.
    fn query<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<Table, StoreError>>;
}

impl fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.database())
    }
}

/// The transaction of a page's effects. Dropped, it rolls back.
pub trait Effects: Transaction {
    /// Puts letters into the transaction. A change that already has one keeps it.
    fn put<'t>(&'t mut self, letters: &'t [NewLetter]) -> BoxFuture<'t, Result<(), StoreError>>;

    /// Runs a statement over tuples, whose values come one tuple after the other. None: it is not run.
    ///
    /// # Errors
    ///
    /// The database's.
    fn many<'t>(
        &'t mut self,
        statement: &'t Bulk,
        tuples: Vec<Value>,
    ) -> BoxFuture<'t, Result<(), TxError>>;

    /// Advances the checkpoint as the last statement and commits (P6).
    ///
    /// # Errors
    ///
    /// Nothing of the page is stored then, save for [`CommitError::Unknown`].
    fn commit<'t>(self: Box<Self>, advance: &'t Advance) -> BoxFuture<'t, Result<(), CommitError>>
    where
        Self: 't;

    /// Rolls back, and waits until it is done.
    fn rollback<'t>(self: Box<Self>) -> BoxFuture<'t, ()>
    where
        Self: 't;
}

/// Why a page was not committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The checkpoint row has another epoch or version: somebody else took the lease, or reset it.
    #[error("the lease {0} was taken by another owner")]
    Fenced(LeaseId),
    /// A hook ended the transaction on its own (COMMIT, ROLLBACK), and so it is not the one begun.
    #[error(
        "a hook ended the page's transaction on its own: hooks must not run COMMIT or ROLLBACK"
    )]
    Broken,
    /// The database refuses what the hooks wrote, a deferred constraint for instance, and the page is rolled back.
    #[error("the database refused the page's COMMIT: what its hooks wrote breaks a constraint")]
    Refused(#[source] BoxError),
    /// The store failed, and the page is rolled back.
    #[error("the page could not be committed")]
    Store(#[from] StoreError),
    /// The answer to COMMIT was lost, and the row could not be read again: take the lease anew.
    #[error("it is not known whether the page was committed")]
    Unknown(#[source] BoxError),
}

/// Why a lease was not split.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// Its row has another epoch or version, or is gone: somebody else took it, or has split it.
    #[error("the lease {0} was taken or split by another owner")]
    Fenced(LeaseId),
    /// The parts are not the whole of it, each once.
    #[error("the parts {} do not make up range {parent}", list(children))]
    Untiled {
        /// The range.
        parent: Bounds,
        /// The parts.
        children: Vec<Bounds>,
    },
    /// The store failed.
    #[error("the lease could not be split")]
    Store(#[from] StoreError),
}

/// Bounds in one line.
fn list(bounds: &[Bounds]) -> String {
    let parts: Vec<_> = bounds.iter().map(ToString::to_string).collect();
    parts.join(", ")
}

/// What a store fails with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A lock, a lost session: the same will work in a moment (P26).
    #[error("the store {store} is busy")]
    Busy {
        /// Which store.
        store: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The store may be read, not written.
    #[error("the store {store} cannot be written to")]
    ReadOnly {
        /// Which store.
        store: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The store's tables are of another version of this program.
    #[error("the store {store} has tables of version {found}; this program knows version {known}")]
    Schema {
        /// Which store.
        store: String,
        /// The version found.
        found: i64,
        /// The version known.
        known: i64,
    },
    /// Another lease of the projection has a part of the range (I5).
    #[error(
        "the store {store} cannot make a checkpoint of range {bounds}: the lease on {standing} has a part of it"
    )]
    Overlap {
        /// Which store.
        store: String,
        /// The range.
        bounds: Bounds,
        /// The other's.
        standing: Bounds,
    },
    /// DDL failed.
    #[error("the ddl of {of} failed")]
    Define {
        /// Whose DDL.
        of: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// A stored value that this program cannot read.
    #[error("the store {store} holds `{value}` as {what}, which this program cannot read")]
    Corrupt {
        /// Which store.
        store: String,
        /// What it should be.
        what: &'static str,
        /// What it is.
        value: String,
    },
    /// Anything else.
    #[error("the store {store} failed")]
    Failed {
        /// Which store.
        store: String,
        /// Why.
        #[source]
        source: BoxError,
    },
}
