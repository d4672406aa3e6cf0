//! The change feed: what is asked, what comes back, and which changes of a range make a page.
//!
//! A page is one buffer that all its texts are slices of, read at the places that the index
//! names. It is never cut inside one sequence number.

use bytes::Bytes;
use bytestring::ByteString;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::Epk;
use crate::index::RangeIndex;
use crate::journal::JournalError;
use crate::medium::Medium;
use crate::record::{Change, Location};

/// A page's size in bytes that ends it before its number of changes does, as on the service.
const PAGE_LIMIT: u64 = 4 * 1024 * 1024;
/// Bytes between two changes that are read along rather than read around.
const GAP: u64 = 256;

/// What happened to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// It was created or replaced: the latest-version feed cannot tell.
    Upsert,
    /// It is new.
    Create,
    /// It was replaced.
    Replace,
    /// It is gone.
    Delete,
}

/// Which versions a feed shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The newest version of each living document.
    LatestVersion,
    /// Every write and delete inside the retention window.
    AllVersions,
}

/// Where a feed begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At the first version. Not for all versions.
    Beginning,
    /// After a time, at whole seconds: documents with `_ts` greater than it. Not for all versions.
    Time(Timestamp),
    /// At the end: the page is empty and its continuation is the place to go on from.
    Now,
    /// After a continuation.
    After(u64),
    /// After a continuation, what was written after a time. Not for all versions.
    AfterSince(u64, Timestamp),
}

/// One read of a feed.
#[derive(Clone, Debug)]
pub struct FeedRequest {
    /// Where the key range begins, in hexadecimal, inclusive.
    pub min: String,
    /// Where it ends, exclusive. All of it must lie in one physical range.
    pub max: String,
    /// Which versions.
    pub mode: Mode,
    /// From where.
    pub from: From,
    /// How many changes at most. More come only if they share one sequence number.
    pub max_items: u32,
}

/// One page of a feed.
#[derive(Clone, Debug)]
pub struct FeedPage {
    /// The changes, in the order of their sequence numbers.
    pub items: Vec<FeedItem>,
    /// Where to go on: [`From::After`] this.
    pub continuation: u64,
    /// Whether nothing newer was there when the page was read.
    pub caught_up: bool,
}

/// One change. Its texts are slices of the page.
#[derive(Clone, Debug)]
pub struct FeedItem {
    /// The document's id.
    pub id: ByteString,
    /// Its partition key as a JSON array: `["x"]`, or `[{}]` for a missing one.
    pub partition_key: ByteString,
    /// What happened.
    pub operation: Operation,
    /// The new version. None on a delete.
    pub current: Option<Bytes>,
    /// The version before, where the collection retains it. None on a create.
    pub previous: Option<Bytes>,
    /// The new version's etag with its quotes. None on a delete.
    pub etag: Option<ByteString>,
    /// The sequence number inside the physical range.
    pub lsn: u64,
    /// When it was written, in whole seconds.
    pub timestamp: Timestamp,
    /// The sequence number of the version before. None on a create and in latest-version mode.
    pub previous_lsn: Option<u64>,
    /// Whether a delete is the doing of the document's time to live.
    pub expired: bool,
}

/// Why a feed cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedError {
    /// The key range is not inside one physical range.
    #[error(
        "collection \"{collection}\" has no physical range that holds [\"{min}\", \"{max}\"); list its ranges again"
    )]
    Gone {
        /// The collection.
        collection: String,
        /// The asked range's begin.
        min: String,
        /// And its end.
        max: String,
    },
    /// The bounds are not hexadecimal.
    #[error(
        "[\"{min}\", \"{max}\") is no key range: bounds are hexadecimal text of at most 32 digits"
    )]
    Bounds {
        /// The asked range's begin.
        min: String,
        /// And its end.
        max: String,
    },
    /// All versions of a collection without a retention window.
    #[error(
        "collection \"{collection}\" has no retention window, so it has no all-versions feed; set one"
    )]
    NoRetention {
        /// The collection.
        collection: String,
    },
    /// All versions from the beginning or from a time.
    #[error(
        "the all-versions feed of collection \"{collection}\" starts from now or from a continuation only"
    )]
    Start {
        /// The collection.
        collection: String,
    },
    /// All versions from before the retention window.
    #[error(
        "continuation {after} of collection \"{collection}\" lies before its retention window: changes up to {oldest} are forgotten"
    )]
    RetentionExceeded {
        /// The collection.
        collection: String,
        /// The asked continuation.
        after: u64,
        /// The newest sequence number that is forgotten.
        oldest: u64,
    },
    /// All versions from before a merge of ranges.
    #[error(
        "continuation {after} of collection \"{collection}\" lies before its ranges were merged, at {merged_at}: the all-versions feed does not reach across a merge"
    )]
    Merged {
        /// The collection.
        collection: String,
        /// The asked continuation.
        after: u64,
        /// The sequence number of the merge.
        merged_at: u64,
    },
    /// The collection was deleted.
    #[error("collection \"{collection}\" was deleted")]
    Dropped {
        /// The collection.
        collection: String,
    },
    /// A continuation beyond the newest change: the journal was lost or shortened.
    #[error(
        "continuation {after} of collection \"{collection}\" lies beyond its newest change, {end}: the journal was lost or shortened since"
    )]
    BeyondEnd {
        /// The collection.
        collection: String,
        /// The asked continuation.
        after: u64,
        /// The newest sequence number.
        end: u64,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The changes of a page, not yet read.
#[derive(Debug)]
pub(crate) struct Selection {
    picks: Vec<Pick>,
    pub(crate) continuation: u64,
    pub(crate) caught_up: bool,
}

#[derive(Debug)]
struct Pick {
    lsn: u64,
    location: Location,
    previous: Option<Location>,
}

impl Selection {
    pub(crate) fn empty(continuation: u64) -> Self {
        Self {
            picks: Vec::new(),
            continuation,
            caught_up: true,
        }
    }

    /// The newest versions after a sequence number, written after a time.
    pub(crate) fn latest(
        range: &RangeIndex,
        (min, max): (Epk, Epk),
        after: u64,
        since: Option<i64>,
        max_items: u32,
    ) -> Self {
        let Some(first) = after.checked_add(1) else {
            return Self::empty(after);
        };
        let found = range
            .latest
            .range((first, 0, 0)..)
            .filter(|(_, living)| (min..max).contains(&living.epk))
            .filter(|(_, living)| since.is_none_or(|since| living.ts > since))
            .map(|((lsn, _, _), living)| Pick {
                lsn: *lsn,
                location: living.location,
                previous: None,
            });
        Self::fill(found, range.end, max_items)
    }

    /// All changes after a sequence number.
    pub(crate) fn all(
        range: &RangeIndex,
        (min, max): (Epk, Epk),
        after: u64,
        max_items: u32,
    ) -> Self {
        let first = range.log.partition_point(|change| change.lsn <= after);
        let found = range
            .log
            .range(first..)
            .filter(|change| (min..max).contains(&change.epk))
            .map(|change| Pick {
                lsn: change.lsn,
                location: change.location,
                previous: change.previous,
            });
        Self::fill(found, range.end, max_items)
    }

    fn fill(found: impl Iterator<Item = Pick>, end: u64, max_items: u32) -> Self {
        let mut picks: Vec<Pick> = Vec::new();
        let mut bytes = 0;
        for pick in found {
            let size = |location: Location| u64::from(location.size);
            bytes += size(pick.location) + pick.previous.map_or(0, size);
            let is_full = picks.len() >= max_items.max(1) as usize || bytes > PAGE_LIMIT;
            if let Some(last) = picks.last()
                && is_full
                && last.lsn != pick.lsn
            {
                let continuation = last.lsn;
                return Self {
                    picks,
                    continuation,
                    caught_up: false,
                };
            }
            picks.push(pick);
        }
        Self {
            picks,
            continuation: end,
            caught_up: true,
        }
    }

    /// Reads the page.
    pub(crate) fn read(self, medium: &Medium, mode: Mode) -> Result<FeedPage, PageError> {
        let mut layout = Layout::default();
        let places: Vec<(usize, Option<usize>)> = self
            .picks
            .iter()
            .map(|pick| {
                let current = layout.place(pick.location);
                (
                    current,
                    pick.previous.map(|location| layout.place(location)),
                )
            })
            .collect();
        let buffer = layout.read(medium)?;
        let items = self
            .picks
            .iter()
            .zip(places)
            .map(|(pick, (at, previous))| {
                let mut item = item(&buffer, at, pick.location, mode)?;
                if let (Some(at), Some(location)) = (previous, pick.previous) {
                    let end = at + location.size as usize;
                    let (change, _) =
                        Change::read(&buffer[at..end]).ok_or(PageError::Change(location.offset))?;
                    item.previous =
                        Some(buffer.slice(at + change.body.start..at + change.body.end));
                }
                Ok(item)
            })
            .collect::<Result<_, PageError>>()?;
        Ok(FeedPage {
            items,
            continuation: self.continuation,
            caught_up: self.caught_up,
        })
    }
}

/// Why a page could not be read from the journal.
#[derive(Debug)]
pub(crate) enum PageError {
    Io(std::io::Error),
    /// The bytes at this offset are no change.
    Change(u64),
}

/// Where the parts of the journal that make a page lie in its buffer.
#[derive(Debug, Default)]
struct Layout {
    /// Offset in the journal, start in the buffer, length.
    runs: Vec<(u64, usize, usize)>,
    size: usize,
}

impl Layout {
    fn place(&mut self, location: Location) -> usize {
        let size = location.size as usize;
        if let Some((offset, start, length)) = self.runs.last_mut() {
            let end = *offset + *length as u64;
            if location.offset >= end && location.offset - end <= GAP {
                let at = usize::try_from(location.offset - *offset).expect("runs fit a page");
                self.size += at + size - *length;
                *length = at + size;
                return *start + at;
            }
        }
        let start = self.size;
        self.runs.push((location.offset, start, size));
        self.size += size;
        start
    }

    fn read(self, medium: &Medium) -> Result<Bytes, PageError> {
        let mut buffer = vec![0; self.size];
        for (offset, start, length) in self.runs {
            medium
                .read_exact_at(&mut buffer[start..start + length], offset)
                .map_err(PageError::Io)?;
        }
        Ok(buffer.into())
    }
}

/// The change at a place of the buffer.
pub(crate) fn item(
    buffer: &Bytes,
    at: usize,
    location: Location,
    mode: Mode,
) -> Result<FeedItem, PageError> {
    let broken = || PageError::Change(location.offset);
    let (change, _) = Change::read(&buffer[at..at + location.size as usize]).ok_or_else(broken)?;
    let bytes = |range: std::ops::Range<usize>| buffer.slice(at + range.start..at + range.end);
    let text = |range| ByteString::try_from(bytes(range)).map_err(|_| broken());
    let head = change.head;
    let is_delete = head.operation == Operation::Delete;
    let all = mode == Mode::AllVersions;
    Ok(FeedItem {
        id: text(change.id)?,
        partition_key: text(change.partition_key)?,
        operation: if all {
            head.operation
        } else {
            Operation::Upsert
        },
        current: (!is_delete).then(|| bytes(change.body)),
        previous: None,
        etag: (!is_delete).then(|| text(change.etag)).transpose()?,
        lsn: head.lsn,
        timestamp: Timestamp::from_second(head.ts).map_err(|_| broken())?,
        previous_lsn: (all && head.previous_lsn > 0).then_some(head.previous_lsn),
        expired: head.expired,
    })
}
