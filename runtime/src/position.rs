//! Where a range stands: bounds, positions, and the identity of what is read.
//!
//! P1, P2 and P5: a lease is named by projection and bounds, a position is what the feed gave
//! after a page, and there is nothing inside a page to remember.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A range's bounds in the space of hashed partition keys: upper-case hexadecimal, `""` is the
/// least and `"FF"` lies beyond the greatest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bounds {
    /// The least hash inside.
    pub min: String,
    /// The least hash beyond.
    pub max: String,
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.min, self.max)
    }
}

/// Which collection is read (P1): its account by its name in settings, database and container by
/// their names, and the resource id that tells a recreated one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The account's name in settings; `emulator` for the local one.
    pub account: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
    /// The container's resource id. Compared, never hashed.
    pub rid: String,
}

/// The account of the local emulator.
pub const EMULATOR: &str = "emulator";

impl Source {
    /// The names without the resource id: `account/database/container`.
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.account, self.database, self.container)
    }
}

/// Which projection runs over which collection (P2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProjectionId {
    /// The tenant; empty without tenants.
    pub tenant: String,
    /// [`Source::path`] of the collection.
    pub collection: String,
    /// The projection's name.
    pub name: String,
    /// Which copy of its read model, from 1.
    pub generation: u32,
}

impl ProjectionId {
    /// The lease of this projection on `bounds`.
    pub fn lease(&self, bounds: &Bounds) -> LeaseId {
        let mut hash = Sha256::new();
        let generation = self.generation.to_string();
        for part in [
            &self.tenant,
            &self.collection,
            &self.name,
            &generation,
            &bounds.min,
            &bounds.max,
        ] {
            // Length first, so that no two lists of parts run together.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let mut hex = String::with_capacity(32);
        for byte in hash.finalize().iter().take(16) {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        LeaseId(hex)
    }
}

/// Names a lease: a hash of projection and bounds, so that two creators collide (P2).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(String);

impl LeaseId {
    /// The id as stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A stored id.
    pub fn from_stored(id: String) -> Self {
        Self(id)
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A continuation as the feed gave it after a page (P5). Opaque to all but the feed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position(String);

impl Position {
    /// A position of a feed.
    pub fn new(continuation: impl Into<String>) -> Self {
        Self(continuation.into())
    }

    /// The continuation.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
