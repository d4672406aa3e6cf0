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

impl Bounds {
    /// The whole key space.
    pub fn whole() -> Self {
        Self {
            min: String::new(),
            max: "FF".to_owned(),
        }
    }

    /// Whether they have a part in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min < other.max && other.min < self.max
    }

    /// Whether `other` lies inside, all of it.
    pub fn contains(&self, other: &Self) -> bool {
        self.min <= other.min && other.max <= self.max
    }

    /// The part that lies inside `other`.
    pub fn inside(&self, other: &Self) -> Option<Self> {
        self.overlaps(other).then(|| Self {
            min: self.min.clone().max(other.min.clone()),
            max: self.max.clone().min(other.max.clone()),
        })
    }

    /// Whether these parts, in this order, make it up: no gap, nothing twice, none of them empty.
    pub fn is_tiled_by<'b>(&self, parts: impl IntoIterator<Item = &'b Self>) -> bool {
        let mut reached = &self.min;
        for part in parts {
            if part.min != *reached || part.max <= part.min {
                return false;
            }
            reached = &part.max;
        }
        *reached == self.max
    }
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

#[cfg(test)]
mod tests {
    use super::Bounds;

    fn bounds(min: &str, max: &str) -> Bounds {
        Bounds {
            min: min.to_owned(),
            max: max.to_owned(),
        }
    }

    #[test]
    fn parts_of_bounds_are_cut_at_theirs() {
        let half = bounds("", "80");
        assert_eq!(
            half.inside(&bounds("40", "FF")),
            Some(bounds("40", "80")),
            "the part in common"
        );
        assert_eq!(half.inside(&bounds("80", "FF")), None, "they only touch");
        assert!(Bounds::whole().contains(&half) && !half.contains(&Bounds::whole()));
    }

    #[test]
    fn tiles_leave_no_gap_and_cover_nothing_twice() {
        let whole = Bounds::whole();
        let tiled = |parts: &[(&str, &str)]| {
            let parts: Vec<_> = parts.iter().map(|(min, max)| bounds(min, max)).collect();
            whole.is_tiled_by(&parts)
        };
        assert!(tiled(&[("", "FF")]));
        assert!(tiled(&[("", "40"), ("40", "80"), ("80", "FF")]));
        assert!(!tiled(&[]));
        assert!(!tiled(&[("", "40"), ("50", "FF")]), "a gap");
        assert!(!tiled(&[("", "50"), ("40", "FF")]), "an overlap");
        assert!(!tiled(&[("", "40"), ("40", "80")]), "the end is missing");
        assert!(
            !tiled(&[("", "40"), ("40", "40"), ("40", "FF")]),
            "an empty part"
        );
        assert!(!tiled(&[("40", "FF"), ("", "40")]), "out of order");
    }
}
