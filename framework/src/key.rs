//! What names a document and a change: [`DocumentId`], [`PartitionKey`], [`IdempotencyKey`].
//!
//! P3: an id is unique only inside its partition. P4: the same version of a document has the same
//! idempotency key for a projection after a retry, a split, in a backfill and in a rebuild.

use std::fmt::{self, Write as _};
use std::ops::Deref;

use bytestring::ByteString;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::change::RawChange;
use crate::extract::{Extract, ExtractError};
use crate::hook::HookCx;

/// The changed document's id. Unique only together with the partition key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentId(ByteString);

impl DocumentId {
    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for DocumentId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Extract<'_> for DocumentId {
    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        Ok(Self(cx.change().id.clone()))
    }
}

/// The changed document's partition key: one value, or several where it is hierarchical.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionKey(ByteString);

impl PartitionKey {
    /// The values as a JSON array: `["tenant", 7]`. A document without the key has `[{}]`.
    pub fn json(&self) -> &str {
        &self.0
    }

    /// The values as Rust types: a tuple with one element for each path, `(String,)` or
    /// `(String, i64)`.
    ///
    /// # Errors
    ///
    /// If a value, or the number of values, does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }
}

impl fmt::Display for PartitionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Extract<'_> for PartitionKey {
    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        Ok(Self(cx.change().partition_key.clone()))
    }
}

/// Names one version of one document for one projection: hand it to whatever the hook calls, so
/// that a repeat is told from a new change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key of `change` for a projection of a collection (P4). Range, lease, generation and
    /// attempt are no part of it.
    pub fn of(projection: &str, collection: &str, change: &RawChange) -> Self {
        let mut hash = Sha256::new();
        // The length goes first, so that no two lists of parts run together.
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(projection.as_bytes());
        part(collection.as_bytes());
        part(change.partition_key.as_bytes());
        part(change.id.as_bytes());
        if let Some(etag) = &change.etag {
            part(b"etag");
            part(etag.as_bytes());
        } else {
            part(b"delete");
            part(&change.sequence.unwrap_or_default().to_le_bytes());
            part(&change.timestamp.as_second().to_le_bytes());
            part(&change.ordinal.to_le_bytes());
        }
        let mut hex = String::with_capacity(64);
        for byte in hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Self(hex)
    }

    /// The key: 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Extract<'_> for IdempotencyKey {
    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        let info = cx.info();
        Ok(Self::of(info.projection, info.collection, cx.change()))
    }
}
