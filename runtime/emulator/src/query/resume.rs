//! Going on with an order where a client left off: the `resumeFilter` beside the query's text.
//!
//! The client names the keys of the last row it had, and maybe its resource id; rows before it in
//! the query's order are left out. Where keys tie, resource ids decide, in the direction of the
//! first key.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::value::order;
use super::{Query, QueryError};

#[derive(Clone, Debug)]
pub(super) struct Resume {
    /// One a key; `None` is undefined.
    keys: Vec<Option<Value>>,
    rid: Option<String>,
    /// Whether the row itself is left out too.
    exclude: bool,
}

impl Query {
    /// Leaves out the rows before those that a request's `resumeFilter` names.
    pub fn resume(&mut self, filter: &Value) -> Result<(), QueryError> {
        let wrong = |message: &str| QueryError {
            message: format!("resumeFilter: {message}"),
        };
        if self.order.is_empty() {
            return Err(wrong("the query has no ORDER BY"));
        }
        let keys = filter.get("value").and_then(Value::as_array);
        let keys =
            keys.ok_or_else(|| wrong("`value` is an array, one value a path of ORDER BY"))?;
        if keys.len() != self.order.len() {
            return Err(wrong("`value` has not one value a path of ORDER BY"));
        }
        let rid = match filter.get("rid") {
            None | Some(Value::Null) => None,
            Some(Value::String(rid)) => Some(rid.clone()),
            Some(_) => return Err(wrong("`rid` is a string")),
        };
        let exclude = match filter.get("exclude") {
            None => false,
            Some(Value::Bool(exclude)) => *exclude,
            Some(_) => return Err(wrong("`exclude` is true or false")),
        };
        let key = |key: &Value| match key {
            Value::Array(items) if items.is_empty() => Ok(None),
            // The service takes a hash of these, which is not documented.
            Value::Array(_) | Value::Object(_) => Err(wrong(
                "resuming after an array or an object is not supported",
            )),
            key => Ok(Some(key.clone())),
        };
        let keys = keys.iter().map(key).collect::<Result<_, _>>()?;
        self.resume = Some(Resume { keys, rid, exclude });
        Ok(())
    }

    /// Whether a row is not before the place that the query goes on from.
    pub(super) fn is_ahead(&self, keys: &[Option<&Value>], document: &Value) -> bool {
        let Some(resume) = &self.resume else {
            return true;
        };
        let place = keys
            .iter()
            .zip(&resume.keys)
            .map(|(key, last)| order(*key, last.as_ref()));
        let place = self.directed(place);
        let place = place.then_with(|| match (&resume.rid, rid_of(document)) {
            (Some(last), Some(rid)) => self.tied(rid, last),
            _ => Ordering::Equal,
        });
        if resume.exclude {
            place.is_gt()
        } else {
            place.is_ge()
        }
    }
}

impl Query {
    /// The order of two rows whose keys tie.
    pub(super) fn tied(&self, left: &str, right: &str) -> Ordering {
        let place = rids(left, right);
        let descends = self.order.first().is_some_and(|sort| sort.descending);
        if descends { place.reverse() } else { place }
    }
}

pub(super) fn rid_of(document: &Value) -> Option<&str> {
    document.get("_rid").and_then(Value::as_str)
}

/// The order of resource ids: that of the documents' numbers in them.
fn rids(left: &str, right: &str) -> Ordering {
    let number = |rid: &str| {
        let bytes = STANDARD.decode(rid.replace('-', "/")).ok()?;
        let number = bytes.get(8..16)?.try_into().ok()?;
        Some(u64::from_le_bytes(number))
    };
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => left.cmp(right),
    }
}
