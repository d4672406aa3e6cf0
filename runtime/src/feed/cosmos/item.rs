//! From an item of the feed to a change, whatever form the service gives it.
//!
//! The sources disagree on some forms, so all are taken: a delete's partition key as object, array or scalar; a version
//! that is missing, `null` or `{}`; documents with and without an envelope. No item fails its page.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Write as _;
use std::ops::Range;

use azure_data_cosmos::models::{ChangeFeedItem, ChangeFeedMetadata, ChangeFeedOperationType};
use bytestring::ByteString;
use jiff::Timestamp;
use projectionist::change::tree::{Branch, Kind, Tree};
use projectionist::change::{Document, Operation, RawChange};
use projectionist::needs::Mode;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::feed::number_deletes;

/// A document as the SDK is made to give it: any value, to be taken out once.
pub(super) struct Body(Cell<Option<Tree>>);

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tree::deserialize(deserializer).map(|tree| Self(Cell::new(Some(tree))))
    }
}

impl Body {
    /// `{}` and `null` are what the service sends for a version that it does not carry.
    fn take(&self) -> Option<Tree> {
        self.0
            .take()
            .filter(|tree| !matches!(tree.root().kind(), Kind::Null | Kind::Fields(0)))
    }
}

/// The paths of a container's partition key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyPaths(Vec<Vec<String>>);

impl KeyPaths {
    pub(super) fn new(paths: &[Cow<'static, str>]) -> Self {
        let parts = |path: &Cow<'static, str>| {
            let parts = path.split('/').filter(|part| !part.is_empty());
            parts
                .map(|part| part.trim_matches('"').to_owned())
                .collect()
        };
        Self(paths.iter().map(parts).collect())
    }

    /// The key of a document.
    fn of_document(&self, document: Option<Branch<'_>>, text: &mut String) {
        let values = self.0.iter().map(|path| {
            path.iter()
                .try_fold(document?, |value, name| value.get(name))
                .map(Component::from)
        });
        write_key(values, text);
    }

    /// The key in a delete's metadata.
    fn of_metadata(&self, key: &Value, text: &mut String) {
        match key {
            Value::Array(values) => {
                write_key(
                    values.iter().map(|value| Some(Component::from(value))),
                    text,
                );
            }
            Value::Object(fields) => {
                let values = self.0.iter().map(|path| {
                    let (first, rest) = path.split_first()?;
                    let deep = fields.get(first).and_then(|value| {
                        rest.iter().try_fold(value, |value, name| value.get(name))
                    });
                    // Some write a path of several names as one.
                    deep.or_else(|| fields.get(&path.join("/")))
                        .or_else(|| fields.get(path.last()?))
                        .map(Component::from)
                });
                write_key(values, text);
            }
            scalar => write_key([Some(Component::from(scalar))], text),
        }
    }
}

/// A value of a partition key.
enum Component<'v> {
    Null,
    Bool(bool),
    Whole(i128),
    Float(f64),
    Text(&'v str),
    /// What is no key's value counts as absent.
    Absent,
}

impl<'v> From<Branch<'v>> for Component<'v> {
    fn from(value: Branch<'v>) -> Self {
        match value.kind() {
            Kind::Null => Self::Null,
            Kind::Bool(flag) => Self::Bool(flag),
            Kind::Unsigned(number) => Self::Whole(number.into()),
            Kind::Signed(number) => Self::Whole(number.into()),
            Kind::Float(number) => Self::Float(number),
            Kind::Text(text) => Self::Text(text),
            _ => Self::Absent,
        }
    }
}

impl<'v> From<&'v Value> for Component<'v> {
    fn from(value: &'v Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => {
                let whole = number.as_i64().map(i128::from);
                match whole.or_else(|| number.as_u64().map(i128::from)) {
                    Some(whole) => Self::Whole(whole),
                    None => number.as_f64().map_or(Self::Absent, Self::Float),
                }
            }
            Value::String(text) => Self::Text(text),
            Value::Array(_) | Value::Object(_) => Self::Absent,
        }
    }
}

/// One text for one key, whether it comes from a document or from a delete (P4): numbers are the service's floats, so
/// `7.0` is written as `7`.
fn write_key<'v>(values: impl IntoIterator<Item = Option<Component<'v>>>, text: &mut String) {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    text.push('[');
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = match value.unwrap_or(Component::Absent) {
            Component::Absent => write!(text, "{{}}"),
            Component::Null => write!(text, "null"),
            Component::Bool(flag) => write!(text, "{flag}"),
            Component::Whole(number) => write!(text, "{number}"),
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
            Component::Float(number) if number.fract() == 0.0 && number.abs() < WHOLE => {
                write!(text, "{}", number as i64)
            }
            Component::Float(number) => write!(text, "{}", Value::from(number)),
            // As it stands, where nothing in it must be escaped.
            Component::Text(value) if value.bytes().all(|b| b >= b' ' && !b"\"\\".contains(&b)) => {
                write!(text, "\"{value}\"")
            }
            Component::Text(value) => write!(text, "{}", Value::from(value)),
        };
    }
    text.push(']');
}

/// The changes of a page. Their short texts are slices of one.
pub(super) fn changes(
    items: &[ChangeFeedItem<Body>],
    mode: Mode,
    keys: &KeyPaths,
) -> Vec<RawChange> {
    // An id, a key and an etag have about so many bytes.
    let mut text = String::with_capacity(items.len() * 128);
    let drafts: Vec<Draft> = items
        .iter()
        .map(|item| Draft::of(item, mode, keys, &mut text))
        .collect();
    let text = ByteString::from(text);
    let mut changes = drafts
        .into_iter()
        .map(|draft| draft.finish(&text))
        .collect::<Vec<_>>();
    number_deletes(&mut changes);
    changes
}

/// What is read of a document besides its key, found in one pass.
#[derive(Default)]
struct Known<'d> {
    id: Option<&'d str>,
    etag: Option<&'d str>,
    sequence: Option<i64>,
    written: Option<i64>,
}

impl<'d> Known<'d> {
    fn of(document: Branch<'d>) -> Self {
        let mut known = Self::default();
        for (name, value) in document.fields() {
            match name {
                "id" => known.id = value.as_str(),
                "_etag" => known.etag = value.as_str(),
                "_lsn" => known.sequence = value.as_i64(),
                "_ts" => known.written = value.as_i64(),
                _ => {}
            }
        }
        known
    }
}

/// A change whose texts are still being gathered.
struct Draft {
    id: Range<usize>,
    partition_key: Range<usize>,
    etag: Option<Range<usize>>,
    operation: Operation,
    current: Option<Document>,
    previous: Option<Document>,
    sequence: Option<u64>,
    timestamp: Timestamp,
    expired: bool,
}

impl Draft {
    fn of(item: &ChangeFeedItem<Body>, mode: Mode, keys: &KeyPaths, text: &mut String) -> Self {
        let metadata = item.metadata();
        let current = item.current().and_then(Body::take);
        let previous = item.previous().and_then(Body::take);
        let operation = operation(metadata, mode, current.is_some());
        let is_delete = operation == Operation::Delete;
        let document = if is_delete {
            previous.as_ref().or(current.as_ref())
        } else {
            current.as_ref()
        };
        let document = document.map(Tree::root);
        let mut put = |part: &str| {
            let start = text.len();
            text.push_str(part);
            start..text.len()
        };
        let known = document.map(Known::of).unwrap_or_default();
        let named = metadata.and_then(ChangeFeedMetadata::id);
        let id = put(named.or(known.id).unwrap_or_default());
        let etag = known.etag.filter(|_| !is_delete).map(put);
        let start = text.len();
        match metadata.and_then(ChangeFeedMetadata::partition_key) {
            Some(key) if is_delete && !key.is_null() => keys.of_metadata(key, text),
            _ => keys.of_document(document, text),
        }
        let sequence = metadata
            .and_then(ChangeFeedMetadata::lsn)
            .map(|lsn| lsn.value())
            .or(known.sequence)
            .and_then(|lsn| u64::try_from(lsn).ok());
        let written = metadata
            .and_then(ChangeFeedMetadata::conflict_resolution_timestamp)
            .and_then(|time| i64::try_from(time.as_secs()).ok())
            .or(known.written)
            .and_then(|seconds| Timestamp::from_second(seconds).ok());
        let expired = metadata
            .and_then(ChangeFeedMetadata::time_to_live_expired)
            .unwrap_or_default();
        Self {
            id,
            partition_key: start..text.len(),
            etag,
            operation,
            // What a delete carries beside its names is no version.
            current: current.filter(|_| !is_delete).map(Document::from_tree),
            previous: previous.map(Document::from_tree),
            sequence,
            timestamp: written.unwrap_or_default(),
            expired: is_delete && expired,
        }
    }

    fn finish(self, text: &ByteString) -> RawChange {
        let slice = |range: Range<usize>| text.slice_ref(&text[range]);
        RawChange {
            id: slice(self.id),
            partition_key: slice(self.partition_key),
            operation: self.operation,
            current: self.current,
            previous: self.previous,
            etag: self.etag.map(slice),
            sequence: self.sequence,
            ordinal: 0,
            timestamp: self.timestamp,
            expired: self.expired,
        }
    }
}

fn operation(metadata: Option<&ChangeFeedMetadata>, mode: Mode, has_current: bool) -> Operation {
    if mode == Mode::LatestVersion {
        return Operation::Upsert;
    }
    match metadata.and_then(ChangeFeedMetadata::operation_type) {
        Some(ChangeFeedOperationType::Create) => Operation::Create,
        Some(ChangeFeedOperationType::Delete) => Operation::Delete,
        // What this client does not know, or was not told: a document that is there was written.
        Some(_) => Operation::Replace,
        None if has_current => Operation::Replace,
        None => Operation::Delete,
    }
}
