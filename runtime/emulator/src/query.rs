//! The queries of the gateway: a part of the service's SQL, answered as the service answers it.
//!
//! What is outside the grammar is an error that names it and its place; no query is answered with
//! other documents than the service would. Properties that do not exist are undefined, and
//! conditions over them neither true nor false.
//!
//! ```text
#![doc = include_str!("query/grammar.txt")]
//! ```
//!
//! Words of the language, names of functions and constants are read in any case; the names of
//! collections and properties as they are written.

mod evaluation;
mod parser;
mod plan;
mod resume;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::{Map, Value};

use resume::{Resume, rid_of};
use syntax::{Expression, Selection, Sort, Window};

/// The longest text of a query, in bytes.
const TEXT_LIMIT: usize = 256 * 1024;

/// A query with the values of its parameters.
#[derive(Clone, Debug)]
pub struct Query {
    /// What the query calls the collection.
    alias: String,
    selection: Selection,
    /// Whether the selection counts documents.
    counts: bool,
    top: Option<u32>,
    filter: Option<Expression>,
    order: Vec<Sort>,
    window: Option<Window>,
    resume: Option<Resume>,
}

/// A value that a query's text names.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name, with or without its `@`.
    pub name: String,
    /// The value.
    pub value: Value,
}

/// Why a text is no query that can be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// What is wrong or not supported, and where.
    pub message: String,
}

impl QueryError {
    fn at(offset: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            message: format!("{message} (at offset {offset} of the query)"),
        }
    }
}

impl Query {
    /// Reads a query. Parameters that the text does not name do no harm.
    pub fn parse(text: &str, parameters: Vec<Parameter>) -> Result<Self, QueryError> {
        if text.len() > TEXT_LIMIT {
            let message = format!(
                "the query is {} bytes long, the limit is {TEXT_LIMIT}",
                text.len()
            );
            return Err(QueryError { message });
        }
        let mut values = HashMap::new();
        for Parameter { name, value } in parameters {
            let name = if name.starts_with('@') {
                name
            } else {
                format!("@{name}")
            };
            if values.contains_key(&name) {
                let message = format!("the parameter `{}` is given twice", token::shortened(&name));
                return Err(QueryError { message });
            }
            values.insert(name, value);
        }
        parser::parse(text, &values)
    }

    /// Whether a document fulfils the query's `WHERE`.
    pub fn matches(&self, document: &Value) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.truth(document) == Some(true))
    }

    /// The rows that the documents of a range give. Rows whose keys of `ORDER BY` tie are ordered by
    /// resource id.
    pub fn run<'d>(&self, documents: impl Iterator<Item = &'d Value>) -> Vec<Value> {
        let matching = documents.filter(|document| self.matches(document));
        if self.counts {
            let matching: Vec<_> = matching.collect();
            return self.selection.total(&matching).into_iter().collect();
        }
        if self.order.is_empty() {
            return self.rows(matching);
        }
        let mut keyed: Vec<_> = matching
            .map(|document| (self.keys(document), document))
            .collect();
        keyed.retain(|(keys, document)| self.is_ahead(keys, document));
        if self.order[0].descending {
            // Ties come in the direction of the first key; without resource ids, as they came.
            keyed.reverse();
        }
        keyed.sort_by(|(a, a_document), (b, b_document)| {
            let place = self.directed(a.iter().zip(b).map(|(a, b)| value::order(*a, *b)));
            place.then_with(|| match (rid_of(a_document), rid_of(b_document)) {
                (Some(a), Some(b)) => self.tied(a, b),
                _ => Ordering::Equal,
            })
        });
        self.rows(keyed.into_iter().map(|(_, document)| document))
    }

    /// Whether each document gives its own row or none, whatever the others are: such a query can
    /// be run document by document.
    pub fn is_plain(&self) -> bool {
        !self.counts && self.order.is_empty() && self.top.is_none() && self.window.is_none()
    }

    /// Whether the query counts documents: its answer is a single row.
    pub fn is_aggregate(&self) -> bool {
        self.counts
    }

    /// Whether the query has an `ORDER BY`.
    pub fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    /// The number after `TOP`.
    pub fn top(&self) -> Option<u32> {
        self.top
    }

    /// The numbers after `OFFSET` and `LIMIT`.
    pub fn window(&self) -> Option<(u32, u32)> {
        self.window.map(|window| (window.offset, window.limit))
    }

    /// What a client must be able to do to run the query over several ranges, in the words of the
    /// header `x-ms-cosmos-supported-query-features`. The service refuses to plan for others.
    pub fn features(&self) -> Vec<&'static str> {
        let value = matches!(self.selection, Selection::Value(_));
        let features = [
            (
                self.counts,
                if value {
                    "Aggregate"
                } else {
                    "NonValueAggregate"
                },
            ),
            (self.order.len() == 1, "OrderBy"),
            (self.order.len() > 1, "MultipleOrderBy"),
            (self.top.is_some(), "Top"),
            (self.window.is_some(), "OffsetAndLimit"),
        ];
        let needed = features.into_iter().filter(|(needed, _)| *needed);
        needed.map(|(_, feature)| feature).collect()
    }

    /// The rows of documents that are found and ordered. Rows without a value count for nothing.
    fn rows<'d>(&self, documents: impl Iterator<Item = &'d Value>) -> Vec<Value> {
        let (skipped, taken) = match (self.top, self.window) {
            (Some(top), _) => (0, top),
            (None, Some(window)) => (window.offset, window.limit),
            (None, None) => (0, u32::MAX),
        };
        let size = |amount: u32| usize::try_from(amount).unwrap_or(usize::MAX);
        let rows = documents.filter_map(|document| self.selection.row(document));
        rows.skip(size(skipped)).take(size(taken)).collect()
    }

    fn keys<'d>(&self, document: &'d Value) -> Vec<Option<&'d Value>> {
        self.order
            .iter()
            .map(|sort| sort.path.find(document))
            .collect()
    }

    /// The order of two rows from that of their keys.
    fn directed(&self, keys: impl Iterator<Item = Ordering>) -> Ordering {
        let directed = self.order.iter().zip(keys).map(|(sort, place)| {
            if sort.descending {
                place.reverse()
            } else {
                place
            }
        });
        directed.fold(Ordering::Equal, Ordering::then)
    }
}

impl Selection {
    /// What a document gives; `None` is no row.
    fn row(&self, document: &Value) -> Option<Value> {
        match self {
            Self::Document => Some(document.clone()),
            Self::Value(value) => value.owned(document),
            Self::Fields(fields) => Some(fields_of(fields, |value| value.owned(document))),
        }
    }

    /// What all documents give together.
    fn total(&self, documents: &[&Value]) -> Option<Value> {
        match self {
            Self::Document => None,
            Self::Value(value) => value.total(documents),
            Self::Fields(fields) => Some(fields_of(fields, |value| value.total(documents))),
        }
    }
}

/// An object of the fields that are defined.
fn fields_of(
    fields: &[(String, Expression)],
    value: impl Fn(&Expression) -> Option<Value>,
) -> Value {
    let fields = fields.iter();
    let defined = fields.filter_map(|(name, field)| Some((name.clone(), value(field)?)));
    Value::Object(defined.collect::<Map<_, _>>())
}
