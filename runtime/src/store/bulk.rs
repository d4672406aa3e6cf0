//! A statement over many tuples: one text for whatever number on PostgreSQL, texts of a few fixed sizes on SQLite.
//!
//! A prepared statement belongs to its text, and on SQLite the text depends on the number of tuples; so they go there in
//! portions. PostgreSQL takes each column as an array.

use std::ops::Range;

use projectionist::row::cell::SqlKind;
use projectionist::sql::Value;

/// The largest portion.
const LARGEST: usize = 128;
/// The most parameters that SQLite takes.
const PARAMETERS: usize = 32_766;

/// A statement over many tuples.
#[derive(Debug)]
pub struct Bulk {
    kinds: Vec<SqlKind>,
    texts: Texts,
}

#[derive(Debug)]
enum Texts {
    /// With the number of tuples, the largest first.
    Portions(Vec<(usize, String)>),
    /// With each column as an array.
    Arrays {
        text: String,
        /// What stands before the `from` of the arrays, and behind it.
        before: String,
        after: String,
    },
}

impl Bulk {
    /// For SQLite: `before (…), (…) after`, with a placeholder for each value.
    pub(crate) fn portions(kinds: Vec<SqlKind>, before: &str, after: &str) -> Self {
        let mut texts = Vec::new();
        let mut size = LARGEST;
        while size > 0 {
            if size * kinds.len() <= PARAMETERS {
                let mut number = 0;
                let tuples: Vec<_> = (0..size)
                    .map(|_| {
                        let tuple: Vec<_> = kinds
                            .iter()
                            .map(|_| {
                                number += 1;
                                format!("${number}")
                            })
                            .collect();
                        format!("({})", tuple.join(", "))
                    })
                    .collect();
                texts.push((size, format!("{before}{}{after}", tuples.join(", "))));
            }
            size /= 2;
        }
        Self {
            kinds,
            texts: Texts::Portions(texts),
        }
    }

    /// For PostgreSQL: one text, `before from … after`, whose `$1`, `$2`, … are arrays.
    pub(crate) fn arrays(kinds: Vec<SqlKind>, before: &str, from: &str, after: &str) -> Self {
        Self {
            kinds,
            texts: Texts::Arrays {
                text: format!("{before} from {from}{after}"),
                before: before.to_owned(),
                after: after.to_owned(),
            },
        }
    }

    /// The same statement over a relation that has the arrays' columns. Only PostgreSQL's has one.
    pub(crate) fn select_from(&self, relation: &str) -> String {
        match &self.texts {
            Texts::Arrays { before, .. } => format!("{before} from {relation}"),
            Texts::Portions(_) => unreachable!("it is no statement over arrays"),
        }
    }

    /// What stands behind the relation.
    pub(crate) fn after(&self) -> &str {
        match &self.texts {
            Texts::Arrays { after, .. } => after,
            Texts::Portions(_) => unreachable!("it is no statement over arrays"),
        }
    }

    /// Room for the values of so many tuples, one tuple after the other.
    pub(crate) fn tuples(&self, count: usize) -> Vec<Value> {
        Vec::with_capacity(count * self.kinds.len())
    }

    /// What the values of a tuple are.
    pub(crate) fn kinds(&self) -> &[SqlKind] {
        &self.kinds
    }

    /// The statements that take so many tuples together, each with the range of those that it takes.
    pub(crate) fn over(&self, count: usize) -> impl Iterator<Item = (Range<usize>, &str)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            let left = count - done;
            let (size, text) = match &self.texts {
                Texts::Arrays { .. } if left == 0 => return None,
                Texts::Arrays { text, .. } => (left, text.as_str()),
                Texts::Portions(texts) => {
                    let (size, text) = texts.iter().find(|(size, _)| *size <= left)?;
                    (*size, text.as_str())
                }
            };
            let start = done;
            done += size;
            Some((start..done, text))
        })
    }
}
