//! What decodes from a text decodes from its tree, into the same value; what does not, does not.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Tree;
use crate::change::Document;

fn both(json: &str) -> (Document, Document) {
    // As a feed's client does it: text, a value that it owns, the tree.
    let value: Value = serde_json::from_str(json).unwrap();
    let tree: Tree = serde_json::from_value(value).unwrap();
    (
        Document::from_json(json.to_owned().into()),
        Document::from_tree(tree),
    )
}

fn same<T: DeserializeOwned + PartialEq + Debug>(json: &str) {
    let (text, tree) = both(json);
    match (text.decode::<T>(), tree.decode::<T>()) {
        (Ok(expected), Ok(found)) => assert_eq!(found, expected, "{json}"),
        (Err(_), Err(_)) => {}
        (expected, found) => panic!("{json}: {expected:?} from text, {found:?} from the tree"),
    }
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Order {
    id: String,
    quantity: Option<i32>,
    #[serde(default)]
    lines: Vec<Line>,
    kind: Option<Kind>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Line(String, f64);

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Plain,
    Wrapped(u8),
    Pair(u8, u8),
    Named { a: Option<bool> },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "type")]
enum Tagged {
    #[serde(rename = "user")]
    User { name: String },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Rest {
    id: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Wrapper(u64);

#[test]
fn users_types_decode_the_same() {
    for json in [
        r#"{"id":"a"}"#,
        r#"{"id":"a","quantity":null,"lines":[["x",1],["y",2.5]]}"#,
        r#"{"id":"a","lines":[["x",1,2]]}"#,
        r#"{"id":"a","lines":[["x"]]}"#,
        r#"{"id":7}"#,
        r#"{"id":"a","quantity":4000000000}"#,
        r#"{"id":"a","quantity":1.5}"#,
        r#"{"id":"a","kind":"plain"}"#,
        r#"{"id":"a","kind":{"plain":null}}"#,
        r#"{"id":"a","kind":{"wrapped":7}}"#,
        r#"{"id":"a","kind":{"wrapped":700}}"#,
        r#"{"id":"a","kind":{"pair":[1,2]}}"#,
        r#"{"id":"a","kind":{"pair":[1]}}"#,
        r#"{"id":"a","kind":{"named":{"a":true}}}"#,
        r#"{"id":"a","kind":{"named":{},"pair":[]}}"#,
        r#"{"id":"a","kind":"strange"}"#,
        r#"{"id":"a","kind":3}"#,
        r#"{"kind":"plain"}"#,
        "[]",
        "null",
        "3",
    ] {
        same::<Order>(json);
        same::<Value>(json);
    }
    for json in [
        r#"{"type":"user","name":"ada"}"#,
        r#"{"type":"order"}"#,
        r#"{"name":"ada"}"#,
    ] {
        same::<Tagged>(json);
    }
    same::<Rest>(r#"{"id":"a","b":{"c":[1,null]},"d":1.0}"#);
    same::<Wrapper>("18446744073709551615");
    same::<Wrapper>("-1");
    same::<BTreeMap<u32, bool>>(r#"{"1":true,"20":false}"#);
    same::<BTreeMap<u32, bool>>(r#"{"x":true}"#);
    same::<BTreeMap<bool, u8>>(r#"{"true":1}"#);
    same::<(String, Option<u8>)>(r#"["a",null]"#);
    same::<Vec<u128>>("[1,2]");
    same::<char>("\"x\"");
    same::<f32>("1");
    same::<()>("null");
}

#[test]
fn numbers_keep_their_kind() {
    for json in [
        "0",
        "-1",
        "18446744073709551615",
        "-9223372036854775808",
        "1.0",
        "-0.0",
        "1e300",
    ] {
        same::<Value>(json);
        let (_, tree) = both(json);
        assert_eq!(
            tree.decode::<Value>().unwrap(),
            serde_json::from_str::<Value>(json).unwrap()
        );
    }
}

#[test]
fn a_raw_value_is_the_text_again() {
    let (_, tree) = both(r#"{"a": [1, "x"]}"#);
    let raw: BTreeMap<String, Box<RawValue>> = tree.decode().unwrap();
    assert_eq!(raw["a"].get(), r#"[1,"x"]"#);
    assert_eq!(&tree.json()[..], br#"{"a":[1,"x"]}"#);
}

#[test]
fn a_tree_is_shared_and_never_read_as_another_document() {
    let (text, tree) = both(r#"{"a":1}"#);
    assert_eq!(tree, tree.clone());
    assert_eq!(text, tree, "the same text");
    assert_ne!(tree, both(r#"{"a":2}"#).1);
    assert_eq!(format!("{tree:?}"), r#"{"a":1}"#);
}
