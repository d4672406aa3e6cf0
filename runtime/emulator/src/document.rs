//! Documents: what a body must be, and the system properties that storing adds.
//!
//! The user's fields keep their text: nothing is parsed into numbers and printed again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::hash;
use crate::json;
use crate::key::PartitionKey;
use crate::write::DocumentError;

/// The longest body, in bytes.
pub const BODY_LIMIT: usize = 2 * 1024 * 1024;
/// The longest id, in bytes.
pub const ID_LIMIT: usize = 1023;

/// What the store writes itself. The user's values of these are dropped.
const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// What a document says about its time to live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemTtl {
    /// Nothing, or null.
    Absent,
    /// Seconds, or -1 for never.
    Seconds(i32),
    /// Something else, which only a collection with time to live minds.
    Invalid,
}

/// A document checked and ready to be stored.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) id: String,
    pub(crate) partition_key: PartitionKey,
    pub(crate) ttl: ItemTtl,
    /// The object's text without the closing brace and without system properties.
    open: Vec<u8>,
    is_empty: bool,
}

impl Prepared {
    /// Checks a body and finds its id, partition key and time to live.
    pub(crate) fn new(body: &[u8], paths: &[Vec<&str>]) -> Result<Self, DocumentError> {
        let refused = |message: String| DocumentError::BadRequest { message };
        if body.len() > BODY_LIMIT {
            return Err(DocumentError::TooLarge {
                size: body.len(),
                limit: BODY_LIMIT,
            });
        }
        let Fields(fields) = serde_json::from_slice(body)
            .map_err(|error| refused(format!("the document is no JSON object: {error}")))?;
        json::check(body)
            .map_err(|error| refused(format!("the document cannot be decoded: {error}")))?;

        let mut names = HashSet::with_capacity(fields.len());
        let mut open = Vec::with_capacity(body.len() + 256);
        open.push(b'{');
        let (mut id, mut ttl, mut is_empty) = (None, ItemTtl::Absent, true);
        for (name, value) in &fields {
            if !names.insert(name.as_ref()) {
                return Err(refused(format!("the field \"{name}\" stands twice")));
            }
            if SYSTEM.contains(&name.as_ref()) {
                continue;
            }
            match name.as_ref() {
                "id" => id = Some(read_id(value.get()).map_err(refused)?),
                "ttl" => ttl = read_ttl(value.get()),
                _ => {}
            }
            if !is_empty {
                open.push(b',');
            }
            is_empty = false;
            serde_json::to_writer(&mut open, name).expect("a string has a JSON text");
            open.push(b':');
            open.extend_from_slice(value.get().as_bytes());
        }
        let id = id.ok_or_else(|| refused("the document has no \"id\"".to_owned()))?;
        let values: Vec<_> = paths.iter().map(|path| find(&fields, path)).collect();
        let partition_key = PartitionKey::of_values(&values).map_err(|error| {
            let names: Vec<_> = paths
                .iter()
                .map(|path| format!("/{}", path.join("/")))
                .collect();
            refused(format!(
                "document \"{id}\", field {}: {error}",
                names.join(", ")
            ))
        })?;
        Ok(Self {
            id,
            partition_key,
            ttl,
            open,
            is_empty,
        })
    }

    /// The stored text: the user's fields, then the system properties.
    pub(crate) fn body(mut self, system: &System<'_>) -> Vec<u8> {
        if !self.is_empty {
            self.open.push(b',');
        }
        self.open.extend_from_slice(system.to_string().as_bytes());
        self.open.push(b'}');
        self.open
    }
}

/// The system properties of one version.
#[derive(Debug)]
pub(crate) struct System<'a> {
    pub(crate) rid: &'a str,
    /// The collection's link, `dbs/…/colls/…/`.
    pub(crate) link: &'a str,
    /// Without quotes.
    pub(crate) etag: &'a str,
    pub(crate) ts: i64,
}

impl fmt::Display for System<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rid,
            link,
            etag,
            ts,
        } = self;
        write!(
            f,
            "\"_rid\":\"{rid}\",\"_self\":\"{link}docs/{rid}/\",\"_etag\":\"\\\"{etag}\\\"\",\
             \"_attachments\":\"attachments/\",\"_ts\":{ts}"
        )
    }
}

/// What tells documents apart: partition key and id (P3), as 128 bits.
pub(crate) fn identity(partition_key: &str, id: &str) -> u128 {
    let mut bytes = Vec::with_capacity(partition_key.len() + id.len() + 1);
    bytes.extend_from_slice(partition_key.as_bytes());
    bytes.push(0xFF);
    bytes.extend_from_slice(id.as_bytes());
    hash::murmur3(&bytes)
}

/// Whether a text may be an id.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    if id.is_empty() {
        return Err("the \"id\" is empty".to_owned());
    }
    if id.len() > ID_LIMIT {
        return Err(format!(
            "the \"id\" is {} bytes long, the limit is {ID_LIMIT}",
            id.len()
        ));
    }
    if let Some(found) = id.chars().find(|c| matches!(c, '/' | '\\' | '?' | '#')) {
        return Err(format!(
            "the \"id\" \"{id}\" contains \"{found}\"; / \\ ? # are not allowed"
        ));
    }
    Ok(())
}

fn read_id(text: &str) -> Result<String, String> {
    let id: String = serde_json::from_str(text)
        .map_err(|_| format!("the \"id\" must be a string, not {text}"))?;
    check_id(&id)?;
    Ok(id)
}

fn read_ttl(text: &str) -> ItemTtl {
    match serde_json::from_str::<Option<i32>>(text) {
        Ok(None) => ItemTtl::Absent,
        Ok(Some(seconds)) if seconds > 0 || seconds == -1 => ItemTtl::Seconds(seconds),
        _ => ItemTtl::Invalid,
    }
}

/// The text of the value at a path. None where there is none.
fn find(fields: &[(Cow<'_, str>, &RawValue)], path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let (_, value) = fields.iter().find(|(name, _)| name == first)?;
    if rest.is_empty() {
        return Some(value.get().to_owned());
    }
    let Fields(fields) = serde_json::from_str(value.get()).ok()?;
    find(&fields, rest)
}

/// A JSON object as its fields in order, values as text.
pub(crate) struct Fields<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    fields.push((name, map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// A field's name, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(body: &str, path: &str) -> String {
        let system = System {
            rid: "R",
            link: "dbs/D/colls/C/",
            etag: "E",
            ts: 7,
        };
        let body = Prepared::new(body.as_bytes(), &[vec![path]])
            .unwrap()
            .body(&system);
        String::from_utf8(body).unwrap()
    }

    #[test]
    fn the_text_of_fields_is_kept_and_system_properties_are_replaced() {
        assert_eq!(
            stored(
                r#"{ "id" : "1", "_etag":"mine", "n": 1.10, "big":12345678901234567890.5, "a\"b": [ 1 ] ,"_ts":1}"#,
                "pk",
            ),
            r#"{"id":"1","n":1.10,"big":12345678901234567890.5,"a\"b":[ 1 ],"_rid":"R","_self":"dbs/D/colls/C/docs/R/","_etag":"\"E\"","_attachments":"attachments/","_ts":7}"#
        );
    }

    #[test]
    fn finds_the_partition_key() {
        for (body, key) in [
            (r#"{"id":"1","a":{"b":"x"}}"#, "[\"x\"]"),
            (r#"{"id":"1","a":{"b":2.0}}"#, "[2]"),
            (r#"{"id":"1","a":{"b":null}}"#, "[null]"),
            (r#"{"id":"1","a":{}}"#, "[{}]"),
            (r#"{"id":"1","a":3}"#, "[{}]"),
            (r#"{"id":"1"}"#, "[{}]"),
        ] {
            let prepared = Prepared::new(body.as_bytes(), &[vec!["a", "b"]]).unwrap();
            assert_eq!(prepared.partition_key.to_string(), key, "{body}");
        }
    }

    #[test]
    fn refuses_what_the_service_refuses() {
        for (body, says) in [
            ("[]", "no JSON object"),
            ("{\"id\":\"1\"", "no JSON object"),
            ("{}", "no \"id\""),
            (r#"{"id":1}"#, "must be a string"),
            (r#"{"id":""}"#, "empty"),
            (r#"{"id":"a/b"}"#, "contains \"/\""),
            (r#"{"id":"1","x":1,"x":2}"#, "\"x\" stands twice"),
            (r#"{"id":"1","pk":[1]}"#, "field /pk"),
            (r#"{"id":"1","x":{"y":"\ud800"}}"#, "cannot be decoded"),
            (r#"{"id":"1","x":[1e999]}"#, "cannot be decoded"),
        ] {
            let error = Prepared::new(body.as_bytes(), &[vec!["pk"]]).unwrap_err();
            assert_eq!(error.status(), 400, "{body}");
            assert!(error.to_string().contains(says), "{body}: {error}");
        }
        let long = format!(r#"{{"id":"{}"}}"#, "i".repeat(ID_LIMIT + 1));
        assert_eq!(
            Prepared::new(long.as_bytes(), &[vec!["pk"]])
                .unwrap_err()
                .status(),
            400
        );
        let large = format!(r#"{{"id":"1","x":"{}"}}"#, "x".repeat(BODY_LIMIT));
        assert_eq!(
            Prepared::new(large.as_bytes(), &[vec!["pk"]])
                .unwrap_err()
                .status(),
            413
        );
    }

    #[test]
    fn reads_the_time_to_live() {
        for (text, ttl) in [
            ("60", ItemTtl::Seconds(60)),
            ("-1", ItemTtl::Seconds(-1)),
            ("null", ItemTtl::Absent),
            ("0", ItemTtl::Invalid),
            ("-2", ItemTtl::Invalid),
            ("1.5", ItemTtl::Invalid),
            ("\"60\"", ItemTtl::Invalid),
        ] {
            assert_eq!(read_ttl(text), ttl, "{text}");
        }
    }
}
