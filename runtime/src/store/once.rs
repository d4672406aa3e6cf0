//! One statement that writes a page's rows and advances its checkpoint: one round trip, and no transaction that an owner
//! could hold open.
//!
//! The compare-and-set guards all else in it: where it finds another epoch or version, nothing is written (I3).

use projectionist::row::cell::SqlKind;
use projectionist::sql::Value;

/// A statement whose first five parameters are lease, epoch, version, position and time, and the others arrays: those of
/// one group of tuples after the other. It answers how many checkpoints it advanced.
#[derive(Debug)]
pub struct Once {
    /// Its text.
    pub(crate) text: String,
}

/// Tuples, whose values come one tuple after the other.
#[derive(Debug)]
pub struct Group<'k> {
    /// What the values of a tuple are.
    pub(crate) kinds: &'k [SqlKind],
    /// The values.
    pub(crate) tuples: Vec<Value>,
}
