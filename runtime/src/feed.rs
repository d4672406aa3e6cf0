//! A collection's change feed, as the engine reads it.

#[cfg(feature = "cosmos")]
pub mod cosmos;
#[cfg(feature = "emulator")]
pub mod emulator;
pub mod script;

#[cfg(any(feature = "cosmos", feature = "emulator"))]
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
#[cfg(any(feature = "cosmos", feature = "emulator"))]
use projectionist::change::Operation;
use projectionist::change::RawChange;
use projectionist::needs::Mode;

use crate::position::{Bounds, Position, Source};

/// A range as the feed lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedRange {
    /// The feed's name for it: the scope of the feed's order.
    pub id: String,
    /// Its bounds.
    pub bounds: Bounds,
}

/// From where to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The oldest change there is. Latest-version mode only.
    Beginning,
    /// What was written at this time or later. Latest-version mode only.
    Time(Timestamp),
    /// What is written from now on. The page is then empty, and its position one from which nothing is passed over that
    /// is written after the answer (P12).
    Now,
    /// After the page that gave this position.
    Position(Position),
}

/// One page to read.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// Bounds of the lease.
    pub bounds: &'a Bounds,
    /// The mode.
    pub mode: Mode,
    /// From where.
    pub from: From,
    /// How many changes at most; a transactional batch is never cut, so there can be more.
    pub max_items: u32,
}

/// One page of changes.
#[derive(Clone, Debug)]
pub struct FeedPage {
    /// The changes, in the feed's order. Empty where nothing is new.
    pub changes: Vec<RawChange>,
    /// Where to go on after it.
    pub position: Position,
    /// Whether nothing newer was there.
    pub caught_up: bool,
    /// Whether the physical ranges inside the bounds are others than when the position read from was given, as far as
    /// the feed can tell: for a feed that reads through a split on its own. The pump then looks at [`Feed::ranges`], and
    /// splits its lease as they are split (P19). A feed that answers [`FeedError::Gone`] instead need not tell.
    pub range_changed: bool,
    /// Why the change of this page cannot be read, where the feed's client cannot: then the page has no other, and its
    /// position is after it. Nobody knows which document it is, so the letter says where it lies (I1).
    pub unreadable: Option<String>,
}

/// A collection's change feed.
pub trait Feed: Send + Sync + 'static {
    /// The collection's identity (P1).
    fn source(&self) -> &Source;

    /// How long all-versions mode reaches back. None: that mode is not to be had.
    fn retention(&self) -> Option<Duration>;

    /// The current ranges, in order of their bounds. They cover the whole key space (I5).
    fn ranges(&self) -> BoxFuture<'_, Result<Vec<FeedRange>, FeedError>>;

    /// Reads one page. The position may be one of wider bounds that these lie in: the leases of a split go on from
    /// their parent's position (P13). Of bounds that are a part of one physical range, merged since, the page holds that
    /// part alone.
    ///
    /// # Errors
    ///
    /// [`FeedError::Gone`] where the bounds span several physical ranges and the feed does not read through a split on
    /// its own: the pump lists the ranges again.
    fn read<'a>(&'a self, read: Read<'a>) -> BoxFuture<'a, Result<FeedPage, FeedError>>;

    /// The newest sequence number inside the bounds; 0 where nothing was ever written.
    fn newest<'a>(&'a self, bounds: &'a Bounds) -> BoxFuture<'a, Result<u64, FeedError>>;

    /// Changes between a position and the newest change, where the feed can tell.
    fn backlog<'a>(
        &'a self,
        bounds: &'a Bounds,
        mode: Mode,
        position: &'a Position,
    ) -> BoxFuture<'a, Result<Option<u64>, FeedError>>;

    /// Resolves when something newer than `position` may be there: the idle pump's alarm clock.
    /// A feed that cannot tell never resolves; the pump polls beside it.
    fn changed<'a>(&'a self, bounds: &'a Bounds, position: &'a Position) -> BoxFuture<'a, ()>;
}

/// Gives deletes of one document that share a sequence number their places (P4): a transactional batch may delete, create
/// and delete again.
#[cfg(any(feature = "cosmos", feature = "emulator"))]
pub(crate) fn number_deletes(changes: &mut [RawChange]) {
    let mut seen = HashMap::new();
    for change in changes {
        if change.operation == Operation::Delete {
            let name = (
                change.partition_key.clone(),
                change.id.clone(),
                change.sequence,
            );
            let places = seen.entry(name).or_insert(0);
            change.ordinal = *places;
            *places += 1;
        }
    }
}

impl fmt::Debug for dyn Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Feed({})", self.source().path())
    }
}

/// What a feed fails with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// All-versions mode was asked of a collection without a retention window.
    #[error("collection `{collection}` keeps no history: it has no retention window")]
    NoRetention {
        /// The collection.
        collection: String,
    },
    /// The position lies before what the feed still has.
    #[error("the position is older than the retention window of collection `{collection}`")]
    RetentionExceeded {
        /// The collection.
        collection: String,
    },
    /// The position lies beyond the end: the collection is shorter than it was (P1).
    #[error(
        "the position {position} lies beyond the end of collection `{collection}`, which stands at {end}"
    )]
    BeyondEnd {
        /// The collection.
        collection: String,
        /// The position.
        position: Position,
        /// The newest sequence number.
        end: u64,
    },
    /// The position is not one that this feed gave.
    #[error("`{position}` is not a position of collection `{collection}`")]
    BadPosition {
        /// The collection.
        collection: String,
        /// The position.
        position: Position,
    },
    /// The bounds are not inside one physical range any more.
    #[error("range {bounds} of collection `{collection}` is gone: it was split")]
    Gone {
        /// The collection.
        collection: String,
        /// The bounds.
        bounds: Bounds,
    },
    /// Ranges were merged, and all-versions mode cannot go on from a position of before.
    #[error(
        "range {bounds} of collection `{collection}` was merged with another, and the all-versions feed cannot be read across a merge"
    )]
    Merged {
        /// The collection.
        collection: String,
        /// The bounds.
        bounds: Bounds,
    },
    /// The collection was deleted.
    #[error("collection `{collection}` is gone: it was deleted")]
    Deleted {
        /// The collection.
        collection: String,
    },
    /// There is no such container.
    #[error("collection `{collection}` is not there: there is no container `{path}`")]
    Missing {
        /// The collection.
        collection: String,
        /// The account's name in settings, the database and the container.
        path: String,
    },
    /// The collection was deleted and made anew under the same name.
    #[error(
        "collection `{collection}` was recreated: its resource id is {found} and was {expected}"
    )]
    Recreated {
        /// The collection.
        collection: String,
        /// The resource id of the collection that was read so far.
        expected: String,
        /// That of the one that is there now.
        found: String,
    },
    /// The account refuses.
    #[error("account `{account}` does not let this program read collection `{collection}`")]
    Denied {
        /// The collection.
        collection: String,
        /// The account's name in settings.
        account: String,
        /// What it says.
        #[source]
        source: projectionist::verdict::BoxError,
    },
    /// So many changes in a row cannot be read that it is not the changes' fault (P26).
    #[error(
        "range {bounds} of collection `{collection}`: {changes} changes in a row could not be read and became dead letters; no more are passed over"
    )]
    Unreadable {
        /// The collection.
        collection: String,
        /// The bounds.
        bounds: Bounds,
        /// How many were passed over.
        changes: u32,
        /// Why the next cannot be read.
        #[source]
        source: projectionist::verdict::BoxError,
    },
    /// Not now.
    #[error("collection `{collection}` cannot be read now")]
    Unavailable {
        /// The collection.
        collection: String,
        /// Why.
        #[source]
        source: projectionist::verdict::BoxError,
    },
}

impl FeedError {
    /// Whether no waiting will help: the projection stops and says so.
    pub const fn is_terminal(&self) -> bool {
        !matches!(
            self,
            Self::Unavailable { .. } | Self::Gone { .. } | Self::Unreadable { .. }
        )
    }
}
