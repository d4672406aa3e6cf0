//! What hooks and their arguments ask of the feed, and the mode that gives it.
//!
//! Everything here is `const`: the mode is known when the user's crate is compiled.

use std::fmt;

/// The two modes of Cosmos DB's change feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The latest version of each changed document. Deletes do not show, versions collapse.
    LatestVersion,
    /// Every version, deletes included, within the container's retention window.
    AllVersionsAndDeletes,
}

impl Mode {
    /// The word for it in attributes, settings and stored rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LatestVersion => "latest_version",
            Self::AllVersionsAndDeletes => "all_versions_and_deletes",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::LatestVersion => "latest version",
            Self::AllVersionsAndDeletes => "all versions and deletes",
        })
    }
}

/// A kind of hook. Each stands once in a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `on_upsert`.
    Upsert,
    /// `on_create`.
    Create,
    /// `on_replace`.
    Replace,
    /// `on_delete`.
    Delete,
    /// `on_expire`.
    Expire,
}

impl Kind {
    /// The attribute's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upsert => "on_upsert",
            Self::Create => "on_create",
            Self::Replace => "on_replace",
            Self::Delete => "on_delete",
            Self::Expire => "on_expire",
        }
    }

    /// How many kinds there are.
    pub(crate) const COUNT: usize = 5;

    /// Its place in arrays by kind.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    const fn bit(self) -> u8 {
        1 << self.index()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A set of [`Kind`]s: those that can give an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    /// `on_upsert`.
    pub const UPSERT: Self = Self(1);
    /// `on_create`.
    pub const CREATE: Self = Self(1 << 1);
    /// `on_replace`.
    pub const REPLACE: Self = Self(1 << 2);
    /// `on_delete`.
    pub const DELETE: Self = Self(1 << 3);
    /// `on_expire`.
    pub const EXPIRE: Self = Self(1 << 4);
    /// Every kind.
    pub const ALL: Self = Self(0b1_1111);

    /// The kinds of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `kind` is among them.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }
}

/// What a hook's arguments ask of the feed and of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs(u8);

impl Needs {
    /// Nothing beyond the document.
    pub const NOTHING: Self = Self(0);
    /// The document's previous version: only all-versions mode has it.
    pub const PREVIOUS: Self = Self(1);
    /// The one transaction of the page.
    pub const TX: Self = Self(1 << 1);

    /// The needs of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is asked for.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether both claim what there is only one of: the transaction.
    pub const fn clashes(self, other: Self) -> bool {
        self.0 & other.0 & Self::TX.0 != 0
    }
}
