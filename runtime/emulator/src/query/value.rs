//! Values as the service compares them: within one type, numbers as doubles, strings by their
//! UTF-16 code units.
//!
//! `None` is undefined throughout: as a value a property that does not exist, as an answer one
//! that is neither true nor false.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// A type's place in an order of mixed types; undefined comes before all of them.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

/// `=`: deep for arrays and objects, false for two types.
///
/// The service's documentation has undefined for two types, for `!=` too. Its clients know better:
/// the Java change feed processor finds its leases by `c.ContinuationToken <> null`, which is to be
/// true of a string.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        #[expect(clippy::float_cmp, reason = "the service compares doubles exactly")]
        (Value::Number(a), Value::Number(b)) => double(a) == double(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

/// `<` and its like: undefined for two types, and for arrays and objects.
pub(super) fn compared(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Null, Value::Null) => Some(Ordering::Equal),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => double(a).partial_cmp(&double(b)),
        (Value::String(a), Value::String(b)) => Some(units(a, b)),
        _ => None,
    }
}

/// The place of two values in an `ORDER BY`: a total order over all types. Arrays and objects are
/// ordered by their parts; the service's order of them is not documented.
pub(super) fn order(left: Option<&Value>, right: Option<&Value>) -> Ordering {
    let (Some(left), Some(right)) = (left, right) else {
        return left.is_some().cmp(&right.is_some());
    };
    match (left, right) {
        (Value::Array(a), Value::Array(b)) => {
            let parts = a.iter().zip(b).map(|(a, b)| order(Some(a), Some(b)));
            parts
                .fold(Ordering::Equal, Ordering::then)
                .then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let mut a: Vec<_> = a.iter().collect();
            let mut b: Vec<_> = b.iter().collect();
            a.sort_by(|x, y| units(x.0, y.0));
            b.sort_by(|x, y| units(x.0, y.0));
            let parts = a.iter().zip(&b);
            let parts =
                parts.map(|(a, b)| units(a.0, b.0).then_with(|| order(Some(a.1), Some(b.1))));
            parts
                .fold(Ordering::Equal, Ordering::then)
                .then(a.len().cmp(&b.len()))
        }
        _ => rank(left)
            .cmp(&rank(right))
            .then(compared(left, right).unwrap_or(Ordering::Equal)),
    }
}

/// Strings by UTF-16 code units: it differs from the order of characters past U+FFFF.
fn units(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}
