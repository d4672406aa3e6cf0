//! What is asked of a collection, what became of it, and why it was refused.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::feed::Operation;
use crate::journal::JournalError;
use crate::key::PartitionKey;

/// One write. Bodies are JSON text.
#[derive(Clone, Debug)]
pub enum Write {
    /// A new document; refused if it exists.
    Create(Bytes),
    /// A new version of a document; refused if it does not exist.
    Replace(Bytes),
    /// Either.
    Upsert(Bytes),
    /// The end of a document; refused if it does not exist.
    Delete {
        /// Its id.
        id: String,
        /// Its partition key.
        partition_key: PartitionKey,
    },
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
            Self::BadRequest { .. } => 400,
            Self::NotFound { .. } => 404,
            Self::Conflict { .. } => 409,
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
