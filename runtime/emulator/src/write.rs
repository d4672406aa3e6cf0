//! What is asked of a collection, what became of it, and why it was refused.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::feed::Operation;
use crate::journal::JournalError;
use crate::key::PartitionKey;
use crate::patch::{Condition, PatchOperation};

/// One write. Bodies are JSON text.
#[derive(Clone, Debug)]
pub enum Write {
    /// A new document; refused if it exists.
    Create(Bytes),
    /// A new version of a document; refused if it does not exist.
    Replace(Bytes),
    /// Either.
    Upsert(Bytes),
    /// A partial update; refused if the document does not exist.
    Patch {
        /// Its id.
        id: String,
        /// Its partition key.
        partition_key: PartitionKey,
        /// What changes.
        operations: Vec<PatchOperation>,
        /// What must hold of it.
        condition: Option<Condition>,
    },
    /// The end of a document; refused if it does not exist.
    Delete {
        /// Its id.
        id: String,
        /// Its partition key.
        partition_key: PartitionKey,
    },
    /// No write: the document as the steps before left it; refused if it does not exist.
    Read {
        /// Its id.
        id: String,
        /// Its partition key.
        partition_key: PartitionKey,
    },
}

/// One write with what must hold for it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The write.
    pub write: Write,
    /// The etag that the document must have, or `*` for any. An upsert that creates is not asked.
    pub if_match: Option<String>,
    /// The etag that it must not have, or `*`: it must not exist.
    pub if_none_match: Option<String>,
    /// The partition key that the document in the body must have.
    pub partition_key: Option<PartitionKey>,
}

impl From<Write> for Step {
    fn from(write: Write) -> Self {
        Self {
            write,
            if_match: None,
            if_none_match: None,
            partition_key: None,
        }
    }
}

/// How the steps of a group are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Each change has a sequence number of its own.
    Each,
    /// A transactional batch: all share one. They must have one partition key.
    Shared,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub struct Done {
    /// The write. Of a read: that of the version that was read.
    pub written: Written,
    /// The document's new text. None of a delete.
    pub body: Option<Bytes>,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// What it was: an upsert is a create or a replace.
    pub operation: Operation,
    /// Its sequence number inside its range.
    pub lsn: u64,
    /// Its time, in whole seconds of the epoch.
    pub ts: i64,
    /// The new version's etag with its quotes. None of a delete.
    pub etag: Option<String>,
}

/// Why a document was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The document exists.
    #[error(
        "collection \"{collection}\" already has a document \"{id}\" with partition key {partition_key}"
    )]
    Conflict {
        /// The collection.
        collection: String,
        /// The document's id.
        id: String,
        /// Its partition key.
        partition_key: String,
    },
    /// The document does not exist.
    #[error(
        "collection \"{collection}\" has no document \"{id}\" with partition key {partition_key}"
    )]
    NotFound {
        /// The collection.
        collection: String,
        /// The document's id.
        id: String,
        /// Its partition key.
        partition_key: String,
    },
    /// The document is not in the state that the write asks for.
    #[error(
        "document \"{id}\" with partition key {partition_key} of collection \"{collection}\" does not meet the write's precondition"
    )]
    Precondition {
        /// The collection.
        collection: String,
        /// The document's id.
        id: String,
        /// Its partition key.
        partition_key: String,
    },
    /// The document's partition key is not the one that was said to be it.
    #[error("the document's partition key is {found}, not {asked}")]
    KeyMismatch {
        /// Of the document.
        found: String,
        /// As it was said.
        asked: String,
    },
    /// The collection was deleted.
    #[error("collection \"{collection}\" was deleted")]
    Dropped {
        /// The collection.
        collection: String,
    },
    /// The document is none that can be stored.
    #[error("{message}")]
    BadRequest {
        /// What is wrong with it.
        message: String,
    },
    /// The document or the group of writes is too large.
    #[error("{size} bytes are more than the limit of {limit} bytes")]
    TooLarge {
        /// How large it is.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl DocumentError {
    /// The status by which HTTP would say it.
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest { .. } | Self::KeyMismatch { .. } => 400,
            Self::NotFound { .. } | Self::Dropped { .. } => 404,
            Self::Conflict { .. } => 409,
            Self::Precondition { .. } => 412,
            Self::TooLarge { .. } => 413,
            Self::Journal(_) => 500,
        }
    }
}

/// Why a group of writes was refused. Nothing of it was written.
#[derive(Debug, thiserror::Error)]
#[error("write {index} of the group: {source}")]
pub struct GroupError {
    /// The first write that is refused, counted from 0.
    pub index: usize,
    /// Why.
    pub source: DocumentError,
}
