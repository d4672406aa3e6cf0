//! What names a document and a change: [`DocumentId`], [`PartitionKey`], [`IdempotencyKey`].
//!
//! P3: an id is unique only inside its partition. P4: the same version of a document has the same
//! idempotency key for a projection after a retry, a split, in a backfill and in a rebuild.

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Deref;

use bytestring::ByteString;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
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

    /// The values, one for each path of the container's partition key.
    ///
    /// # Errors
    ///
    /// If the feed gave something that is no partition key.
    pub fn parts(&self) -> Result<Vec<KeyPart>, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The values as Rust types: `String` or `(String,)` for one path, `(String, i64)` for two.
    ///
    /// # Errors
    ///
    /// If a value, or the number of values, does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0).or_else(|error| {
            match *serde_json::from_str::<Vec<&RawValue>>(&self.0)? {
                [only] => serde_json::from_str(only.get()),
                _ => Err(error),
            }
        })
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

/// One value of a partition key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KeyPart {
    /// The document has no such field.
    Absent,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. Cosmos DB's are all 64-bit floats.
    Number(f64),
    /// A string.
    Text(String),
}

impl<'de> Deserialize<'de> for KeyPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeyPartVisitor)
    }
}

struct KeyPartVisitor;

impl<'de> Visitor<'de> for KeyPartVisitor {
    type Value = KeyPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a partition key's value")
    }

    fn visit_unit<E>(self) -> Result<KeyPart, E> {
        Ok(KeyPart::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<KeyPart, E> {
        Ok(KeyPart::Bool(flag))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "the service's numbers are floats"
    )]
    fn visit_i64<E>(self, number: i64) -> Result<KeyPart, E> {
        Ok(KeyPart::Number(number as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "the service's numbers are floats"
    )]
    fn visit_u64<E>(self, number: u64) -> Result<KeyPart, E> {
        Ok(KeyPart::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<KeyPart, E> {
        Ok(KeyPart::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<KeyPart, E> {
        Ok(KeyPart::Text(text.to_owned()))
    }

    /// `{}`, on the wire.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeyPart, A::Error> {
        match map.next_key::<IgnoredAny>()? {
            None => Ok(KeyPart::Absent),
            Some(_) => Err(A::Error::custom("an object is no partition key's value")),
        }
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
            for digit in [byte >> 4, byte & 0xf] {
                hex.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
            }
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
