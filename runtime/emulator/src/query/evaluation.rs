//! What an expression is for a document, in the service's three-valued logic.
//!
//! The recursion is as deep as the query's nesting, which the parser bounds.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::fields_of;
use super::syntax::{Comparison, Expression, Kind, Operator, Path, StartsWith, Step};
use super::value::{compared, same};

/// A value, or undefined.
type Found<'a> = Option<Cow<'a, Value>>;

impl Path {
    /// The value at the path, if there is one.
    pub(super) fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0
            .iter()
            .try_fold(document, |value, step| match (step, value) {
                (Step::Name(name), Value::Object(fields)) => fields.get(name),
                (Step::Index(index), Value::Array(items)) => items.get(*index),
                _ => None,
            })
    }
}

impl Expression {
    /// The value for a document.
    pub(super) fn value<'a>(&'a self, document: &'a Value) -> Found<'a> {
        match self {
            Self::Literal(value) | Self::Parameter { value, .. } => Some(Cow::Borrowed(value)),
            Self::Path(path) => path.find(document).map(Cow::Borrowed),
            Self::Array(items) => {
                let items = items.iter().filter_map(|item| item.value(document));
                Some(Cow::Owned(items.map(Cow::into_owned).collect()))
            }
            Self::Object(fields) => Some(Cow::Owned(fields_of(fields, |e| e.owned(document)))),
            // A count is one of many documents: see `total`.
            Self::Undefined | Self::Count(_) => None,
            _ => self
                .truth(document)
                .map(|truth| Cow::Owned(Value::Bool(truth))),
        }
    }

    /// The value for a document, apart from both.
    pub(super) fn owned(&self, document: &Value) -> Option<Value> {
        self.value(document).map(Cow::into_owned)
    }

    /// The value over all documents that a query found: of `COUNT`, and of what may stand around it.
    pub(super) fn total(&self, documents: &[&Value]) -> Option<Value> {
        match self {
            Self::Count(counted) => {
                let defined = documents.iter().filter(|d| counted.value(d).is_some());
                Some(Value::from(defined.count()))
            }
            Self::Array(items) => Some(
                items
                    .iter()
                    .filter_map(|item| item.total(documents))
                    .collect(),
            ),
            Self::Object(fields) => Some(fields_of(fields, |e| e.total(documents))),
            constant => constant.owned(&Value::Null),
        }
    }

    /// Whether it is true or false; anything but a boolean is neither.
    pub(super) fn truth(&self, document: &Value) -> Option<bool> {
        match self {
            Self::Not(inner) => inner.truth(document).map(|truth| !truth),
            Self::And(parts) => decided(parts, document, false),
            Self::Or(parts) => decided(parts, document, true),
            Self::Comparison(comparison) => comparison.truth(document),
            Self::In {
                needle,
                items,
                negated,
            } => {
                let needle = needle.value(document)?;
                let mut items = items.iter().filter_map(|item| item.value(document));
                Some(items.any(|item| same(&needle, &item)) != *negated)
            }
            Self::Is(kind, value) => Some(kind.is(value.value(document).as_deref())),
            Self::StartsWith(call) => call.truth(document),
            other => match other.value(document).as_deref() {
                Some(Value::Bool(truth)) => Some(*truth),
                _ => None,
            },
        }
    }
}

/// `AND` is decided by one false, `OR` by one true; undecided, one part without a truth leaves the
/// whole without one.
fn decided(parts: &[Expression], document: &Value, by: bool) -> Option<bool> {
    let mut whole = Some(!by);
    for part in parts {
        match part.truth(document) {
            Some(truth) if truth == by => return Some(by),
            Some(_) => {}
            None => whole = None,
        }
    }
    whole
}

impl Comparison {
    fn truth(&self, document: &Value) -> Option<bool> {
        let left = self.left.value(document)?;
        let right = self.right.value(document)?;
        match self.operator {
            Operator::Equal => Some(same(&left, &right)),
            Operator::Unequal => Some(!same(&left, &right)),
            Operator::Less => compared(&left, &right).map(Ordering::is_lt),
            Operator::AtMost => compared(&left, &right).map(Ordering::is_le),
            Operator::Greater => compared(&left, &right).map(Ordering::is_gt),
            Operator::AtLeast => compared(&left, &right).map(Ordering::is_ge),
        }
    }
}

impl StartsWith {
    fn truth(&self, document: &Value) -> Option<bool> {
        let value = self.value.value(document)?;
        let prefix = self.prefix.value(document)?;
        let (value, prefix) = (value.as_str()?, prefix.as_str()?);
        Some(if self.ignore_case {
            value.to_lowercase().starts_with(&prefix.to_lowercase())
        } else {
            value.starts_with(prefix)
        })
    }
}

impl Kind {
    fn is(self, value: Option<&Value>) -> bool {
        match self {
            Self::Defined => value.is_some(),
            Self::Null => value.is_some_and(Value::is_null),
            Self::Boolean => value.is_some_and(Value::is_boolean),
            Self::Number => value.is_some_and(Value::is_number),
            Self::String => value.is_some_and(Value::is_string),
            Self::Array => value.is_some_and(Value::is_array),
            Self::Object => value.is_some_and(Value::is_object),
        }
    }
}
