//! Partial updates of a document, on its text: what no operation names keeps every character.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::document::Fields;

/// How many operations one patch may have, as on the service.
pub const PATCH_LIMIT: usize = 10;

/// One operation of a patch. Paths are JSON pointers: `/address/city`, `/tags/0`, `/tags/-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchOperation {
    /// Adds a field or replaces it; inserts into an array.
    Add {
        /// Where.
        path: String,
        /// The value's JSON text.
        value: String,
    },
    /// Adds a field or replaces it; replaces an element of an array.
    Set {
        /// Where.
        path: String,
        /// The value's JSON text.
        value: String,
    },
    /// Replaces what is there.
    Replace {
        /// Where.
        path: String,
        /// The value's JSON text.
        value: String,
    },
    /// Removes what is there.
    Remove {
        /// Where.
        path: String,
    },
    /// Adds to a number; a missing field counts as 0.
    Increment {
        /// Where.
        path: String,
        /// The number's JSON text.
        value: String,
    },
    /// Moves what is at `from` to `path`.
    Move {
        /// From where.
        from: String,
        /// To where.
        path: String,
    },
}

/// A test of a document's JSON text.
type Test = dyn Fn(&[u8]) -> bool + Send + Sync;

/// What must hold of a document for a patch to be made: a test of its JSON text.
#[derive(Clone)]
pub struct Condition(Arc<Test>);

impl Condition {
    /// A condition.
    pub fn new(test: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(test))
    }

    pub(crate) fn holds(&self, body: &[u8]) -> bool {
        (self.0)(body)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condition")
    }
}

/// The document's text after all operations.
pub(crate) fn patched(body: &str, operations: &[PatchOperation]) -> Result<String, String> {
    if operations.is_empty() || operations.len() > PATCH_LIMIT {
        return Err(format!(
            "a patch has 1 to {PATCH_LIMIT} operations, not {}",
            operations.len()
        ));
    }
    let mut text = body.to_owned();
    for operation in operations {
        text = match operation {
            PatchOperation::Add { path, value } => edit(&text, path, &Edit::Add(value)),
            PatchOperation::Set { path, value } => edit(&text, path, &Edit::Set(value)),
            PatchOperation::Replace { path, value } => edit(&text, path, &Edit::Replace(value)),
            PatchOperation::Remove { path } => edit(&text, path, &Edit::Remove),
            PatchOperation::Increment { path, value } => edit(&text, path, &Edit::Increment(value)),
            PatchOperation::Move { from, path } => relocate(&text, from, path),
        }?;
    }
    Ok(text)
}

fn relocate(text: &str, from: &str, to: &str) -> Result<String, String> {
    if to == from {
        return Ok(text.to_owned());
    }
    if to
        .strip_prefix(from)
        .is_some_and(|rest| rest.starts_with('/'))
    {
        return Err(format!("{from} cannot be moved into itself, to {to}"));
    }
    let value = value(text, &pointer(from)?)
        .ok_or_else(|| format!("there is nothing at {from} to be moved"))?;
    let without = edit(text, from, &Edit::Remove)?;
    edit(&without, to, &Edit::Add(&value))
}

/// What happens at the end of a path.
enum Edit<'a> {
    Add(&'a str),
    Set(&'a str),
    Replace(&'a str),
    Remove,
    Increment(&'a str),
}

fn pointer(path: &str) -> Result<Vec<String>, String> {
    let names = path
        .strip_prefix('/')
        .filter(|names| !names.is_empty())
        .ok_or_else(|| format!("the path \"{path}\" must begin with / and name something"))?;
    Ok(names
        .split('/')
        .map(|name| name.replace("~1", "/").replace("~0", "~"))
        .collect())
}

fn value(text: &str, path: &[String]) -> Option<String> {
    let Some((name, rest)) = path.split_first() else {
        return Some(text.to_owned());
    };
    match Node::read(text)? {
        Node::Object(fields) => {
            let (_, inner) = fields.iter().find(|(field, _)| field == name)?;
            value(inner, rest)
        }
        Node::Array(items) => value(items.get(name.parse::<usize>().ok()?)?, rest),
    }
}

/// An object or an array, its values as text.
enum Node<'a> {
    Object(Vec<(Cow<'a, str>, Cow<'a, str>)>),
    Array(Vec<Cow<'a, str>>),
}

impl<'a> Node<'a> {
    fn read(text: &'a str) -> Option<Self> {
        match text.trim_start().as_bytes().first()? {
            b'{' => {
                let Fields(fields) = serde_json::from_str(text).ok()?;
                let field = |(name, value): (_, &'a RawValue)| (name, Cow::Borrowed(value.get()));
                Some(Self::Object(fields.into_iter().map(field).collect()))
            }
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                let items = items.into_iter().map(|item| Cow::Borrowed(item.get()));
                Some(Self::Array(items.collect()))
            }
            _ => None,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        match self {
            Self::Object(fields) => {
                text.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    text.push_str(&serde_json::Value::from(name.as_ref()).to_string());
                    text.push(':');
                    text.push_str(value);
                }
                text.push('}');
            }
            Self::Array(items) => {
                text.push('[');
                text.push_str(&items.join(","));
                text.push(']');
            }
        }
        text
    }
}

fn edit(text: &str, path: &str, edit: &Edit<'_>) -> Result<String, String> {
    descend(text, &pointer(path)?, path, edit)
}

fn descend(text: &str, names: &[String], path: &str, edit: &Edit<'_>) -> Result<String, String> {
    let missing = || format!("there is nothing at {path}");
    let (name, rest) = names.split_first().ok_or_else(missing)?;
    let mut node = Node::read(text).ok_or_else(missing)?;
    match &mut node {
        Node::Object(fields) => {
            let at = fields.iter().position(|(field, _)| field == name);
            match (at, rest.is_empty()) {
                (Some(at), false) => {
                    fields[at].1 = Cow::Owned(descend(&fields[at].1, rest, path, edit)?);
                }
                (None, false) => return Err(missing()),
                (at, true) => field(fields, at, name, path, edit)?,
            }
        }
        Node::Array(items) => {
            let length = items.len();
            let at = match name.as_str() {
                "-" if rest.is_empty() => length,
                digits => digits
                    .parse()
                    .ok()
                    .filter(|at| *at <= length)
                    .ok_or_else(|| format!("{path} names no place of an array of {length}"))?,
            };
            if rest.is_empty() {
                item(items, at, path, edit)?;
            } else {
                let inner = items.get(at).ok_or_else(missing)?;
                items[at] = Cow::Owned(descend(inner, rest, path, edit)?);
            }
        }
    }
    Ok(node.text())
}

fn field<'a>(
    fields: &mut Vec<(Cow<'a, str>, Cow<'a, str>)>,
    at: Option<usize>,
    name: &str,
    path: &str,
    edit: &Edit<'_>,
) -> Result<(), String> {
    let value = match (edit, at) {
        (Edit::Add(value) | Edit::Set(value), _) | (Edit::Replace(value), Some(_)) => {
            (*value).to_owned()
        }
        (Edit::Increment(by), Some(at)) => sum(&fields[at].1, by, path)?,
        (Edit::Increment(by), None) => sum("0", by, path)?,
        (Edit::Remove, Some(at)) => {
            fields.remove(at);
            return Ok(());
        }
        (Edit::Replace(_) | Edit::Remove, None) => {
            return Err(format!("there is nothing at {path}"));
        }
    };
    match at {
        Some(at) => fields[at].1 = Cow::Owned(value),
        None => fields.push((Cow::Owned(name.to_owned()), Cow::Owned(value))),
    }
    Ok(())
}

fn item(
    items: &mut Vec<Cow<'_, str>>,
    at: usize,
    path: &str,
    edit: &Edit<'_>,
) -> Result<(), String> {
    let is_there = at < items.len();
    match edit {
        Edit::Add(value) => items.insert(at, Cow::Owned((*value).to_owned())),
        Edit::Set(value) | Edit::Replace(value) if is_there => {
            items[at] = Cow::Owned((*value).to_owned());
        }
        Edit::Set(value) => items.push(Cow::Owned((*value).to_owned())),
        Edit::Increment(by) if is_there => items[at] = Cow::Owned(sum(&items[at], by, path)?),
        Edit::Remove if is_there => {
            items.remove(at);
        }
        Edit::Replace(_) | Edit::Remove | Edit::Increment(_) => {
            return Err(format!("there is nothing at {path}"));
        }
    }
    Ok(())
}

fn sum(left: &str, right: &str, path: &str) -> Result<String, String> {
    let number = |text: &str| {
        serde_json::from_str::<serde_json::Number>(text)
            .map_err(|_| format!("{path} can only be incremented by and from a number, not {text}"))
    };
    let (left, right) = (number(left)?, number(right)?);
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64())
        && let Some(sum) = left.checked_add(right)
    {
        return Ok(sum.to_string());
    }
    let sum = left.as_f64().zip(right.as_f64()).map(|(a, b)| a + b);
    sum.and_then(serde_json::Number::from_f64)
        .map(|sum| sum.to_string())
        .ok_or_else(|| format!("{path} would be out of the range of a double"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(path: &str, value: &str) -> PatchOperation {
        PatchOperation::Add {
            path: path.into(),
            value: value.into(),
        }
    }
    fn set(path: &str, value: &str) -> PatchOperation {
        PatchOperation::Set {
            path: path.into(),
            value: value.into(),
        }
    }
    fn replace(path: &str, value: &str) -> PatchOperation {
        PatchOperation::Replace {
            path: path.into(),
            value: value.into(),
        }
    }
    fn remove(path: &str) -> PatchOperation {
        PatchOperation::Remove { path: path.into() }
    }
    fn increment(path: &str, value: &str) -> PatchOperation {
        PatchOperation::Increment {
            path: path.into(),
            value: value.into(),
        }
    }
    fn relocation(from: &str, path: &str) -> PatchOperation {
        PatchOperation::Move {
            from: from.into(),
            path: path.into(),
        }
    }

    #[test]
    fn each_operation_does_what_it_says_and_nothing_else() {
        let body = r#"{"id":"1","n":1.10,"a":[1,2,3],"o":{"x":1,"y/z":2}}"#;
        for (operation, expected) in [
            (
                add("/m", "true"),
                r#"{"id":"1","n":1.10,"a":[1,2,3],"o":{"x":1,"y/z":2},"m":true}"#,
            ),
            (
                add("/a/0", "9"),
                r#"{"id":"1","n":1.10,"a":[9,1,2,3],"o":{"x":1,"y/z":2}}"#,
            ),
            (
                add("/a/-", "9"),
                r#"{"id":"1","n":1.10,"a":[1,2,3,9],"o":{"x":1,"y/z":2}}"#,
            ),
            (
                set("/a/0", "9"),
                r#"{"id":"1","n":1.10,"a":[9,2,3],"o":{"x":1,"y/z":2}}"#,
            ),
            (
                set("/o/x", "\"q\""),
                r#"{"id":"1","n":1.10,"a":[1,2,3],"o":{"x":"q","y/z":2}}"#,
            ),
            (
                replace("/o/y~1z", "3"),
                r#"{"id":"1","n":1.10,"a":[1,2,3],"o":{"x":1,"y/z":3}}"#,
            ),
            (remove("/o"), r#"{"id":"1","n":1.10,"a":[1,2,3]}"#),
            (
                remove("/a/1"),
                r#"{"id":"1","n":1.10,"a":[1,3],"o":{"x":1,"y/z":2}}"#,
            ),
            (
                increment("/a/2", "-5"),
                r#"{"id":"1","n":1.10,"a":[1,2,-2],"o":{"x":1,"y/z":2}}"#,
            ),
            (
                increment("/n", "0.5"),
                r#"{"id":"1","n":1.6,"a":[1,2,3],"o":{"x":1,"y/z":2}}"#,
            ),
            (
                increment("/new", "2"),
                r#"{"id":"1","n":1.10,"a":[1,2,3],"o":{"x":1,"y/z":2},"new":2}"#,
            ),
            (
                relocation("/o/x", "/x"),
                r#"{"id":"1","n":1.10,"a":[1,2,3],"o":{"y/z":2},"x":1}"#,
            ),
        ] {
            assert_eq!(
                patched(body, std::slice::from_ref(&operation)).unwrap(),
                expected,
                "{operation:?}"
            );
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let body = r#"{"id":"1","n":"text","a":[1]}"#;
        for operation in [
            replace("/x", "1"),
            remove("/x"),
            remove("/a/1"),
            add("/a/2", "1"),
            add("/x/y", "1"),
            add("n", "1"),
            add("/", "1"),
            increment("/n", "1"),
            relocation("/a", "/a/0"),
            relocation("/x", "/y"),
        ] {
            let result = patched(body, std::slice::from_ref(&operation));
            assert!(result.is_err(), "{operation:?}: {result:?}");
        }
        assert!(patched(body, &[]).is_err());
        assert!(patched(body, &vec![remove("/n"); 11]).is_err());
    }
}
