//! Dead letters: changes that failed for good, kept with their bodies.
//!
//! A letter commits with the checkpoint that passes its change (I1, P23).

use bytes::Bytes;
use jiff::Timestamp;
use projectionist::change::Operation;

use crate::position::{Bounds, LeaseId, ProjectionId};

/// A letter about to be stored.
#[derive(Clone, Debug)]
pub struct NewLetter {
    /// The projection.
    pub projection: ProjectionId,
    /// The lease under which it was read.
    pub lease: LeaseId,
    /// The range's bounds then.
    pub bounds: Bounds,
    /// The change's idempotency key: one letter for a change, however often it is read (P4).
    pub key: String,
    /// The document's partition key, as a JSON array.
    pub partition_key: String,
    /// The document's id.
    pub document_id: String,
    /// The sequence number.
    pub sequence: Option<u64>,
    /// What happened to the document.
    pub operation: Operation,
    /// The document's etag.
    pub etag: Option<String>,
    /// When the change was written.
    pub written_at: Timestamp,
    /// The hook that would have got it; empty where a filter could not read it.
    pub hook: String,
    /// The error and its causes, outermost first.
    pub errors: Vec<String>,
    /// Attempts made.
    pub attempts: u32,
    /// When it failed.
    pub failed_at: Timestamp,
    /// The build that failed on it.
    pub build: String,
    /// The document as it came. None for a delete that carries nothing.
    pub body: Option<Bytes>,
}

/// What became of a letter. Stored by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LetterStatus {
    /// Failed for good.
    Dead,
}

impl LetterStatus {
    /// The stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dead => "dead",
        }
    }
}

/// A stored letter.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its number in the store.
    pub id: i64,
    /// Where it stands.
    pub status: LetterStatus,
    /// What was stored.
    pub content: NewLetter,
    /// The last failure, where it failed again.
    pub last_failed_at: Timestamp,
}

/// Which letters to list, oldest first.
#[derive(Clone, Debug, Default)]
pub struct LetterFilter {
    /// Of this projection only.
    pub projection: Option<String>,
    /// Of this document id only.
    pub document_id: Option<String>,
    /// With a number above this one: for paging.
    pub after: i64,
    /// At most so many. 0: no limit.
    pub limit: u32,
}
