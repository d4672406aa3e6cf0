//! The naive evaluation: values are copied, truths are numbers, orders are orders of bytes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Condition, Generated, Selection, Side, Step};

/// False is 0, undefined 1, true 2: AND is the least, OR the greatest.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Eq, Ord)]
pub(super) struct Truth(u8);

/// A value apart from its JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plain {
    Undefined,
    Null,
    Truth(bool),
    Number(f64),
    Text(Vec<u16>),
    List(Vec<Plain>),
    Fields(BTreeMap<Vec<u16>, Plain>),
}

impl Truth {
    pub(super) const FALSE: Self = Self(0);
    pub(super) const UNDEFINED: Self = Self(1);
    pub(super) const TRUE: Self = Self(2);

    pub(super) fn negated(self) -> Self {
        Self(2 - self.0)
    }

    fn of(truth: bool) -> Self {
        if truth { Self::TRUE } else { Self::FALSE }
    }
}

impl Plain {
    pub(super) fn of(value: Option<&Value>) -> Self {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        match value {
            None => Self::Undefined,
            Some(Value::Null) => Self::Null,
            Some(Value::Bool(truth)) => Self::Truth(*truth),
            Some(Value::Number(number)) => Self::Number(number.to_string().parse().unwrap()),
            Some(Value::String(text)) => Self::Text(units(text)),
            Some(Value::Array(items)) => {
                Self::List(items.iter().map(|item| Self::of(Some(item))).collect())
            }
            Some(Value::Object(fields)) => {
                let fields = fields.iter().map(|(n, v)| (units(n), Self::of(Some(v))));
                Self::Fields(fields.collect())
            }
        }
    }

    fn kind(&self) -> usize {
        match self {
            Self::Undefined => 0,
            Self::Null => 1,
            Self::Truth(_) => 2,
            Self::Number(_) => 3,
            Self::Text(_) => 4,
            Self::List(_) => 5,
            Self::Fields(_) => 6,
        }
    }
}

/// Bytes that are ordered as the values are.
pub(super) fn key(value: &Plain) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(value.kind()).unwrap() + 1];
    let units = |bytes: &mut Vec<u8>, text: &[u16]| {
        // One more, so that the end is before everything.
        bytes.extend(
            text.iter()
                .flat_map(|unit| (u32::from(*unit) + 1).to_be_bytes()),
        );
        bytes.extend([0; 4]);
    };
    match value {
        Plain::Undefined | Plain::Null => {}
        Plain::Truth(truth) => bytes.push(u8::from(*truth)),
        Plain::Number(number) => {
            // A negative zero is a zero.
            let bits = (number + 0.0).to_bits();
            let ordered = if bits >> 63 == 1 {
                !bits
            } else {
                bits | (1 << 63)
            };
            bytes.extend(ordered.to_be_bytes());
        }
        Plain::Text(text) => units(&mut bytes, text),
        Plain::List(items) => {
            bytes.extend(items.iter().flat_map(key));
            bytes.push(0);
        }
        Plain::Fields(fields) => {
            for (name, field) in fields {
                bytes.push(1);
                units(&mut bytes, name);
                bytes.extend(key(field));
            }
            bytes.push(0);
        }
    }
    bytes
}

/// The JSON at a path, by way of a JSON pointer.
fn at<'d>(document: &'d Value, path: &[Step]) -> Option<&'d Value> {
    let steps = path.iter().map(|step| match step {
        Step::Name(name) => format!("/{name}"),
        Step::Index(index) => format!("/{index}"),
    });
    let pointer: String = steps.collect();
    document.pointer(&pointer)
}

impl Side {
    fn value(&self, document: &Value) -> Plain {
        match self {
            Self::At(path) => Plain::of(at(document, path)),
            Self::Fixed(value) => Plain::of(Some(value)),
            Self::Undefined => Plain::Undefined,
            Self::Condition(condition) => match condition.as_ref() {
                // Parentheses around a value are no condition.
                Condition::Holds(side) => side.value(document),
                condition => match condition.truth(document) {
                    Truth::UNDEFINED => Plain::Undefined,
                    truth => Plain::Truth(truth == Truth::TRUE),
                },
            },
        }
    }
}

impl Condition {
    fn truth(&self, document: &Value) -> Truth {
        match self {
            Self::Compare(left, operator, right) => {
                let (left, right) = (left.value(document), right.value(document));
                compared(&left, operator, &right)
            }
            Self::In(side, items, negated) => {
                let needle = side.value(document);
                if needle == Plain::Undefined {
                    return Truth::UNDEFINED;
                }
                let found = items
                    .iter()
                    .filter(|item| item.value(document) == needle)
                    .count();
                Truth::of((found > 0) ^ negated)
            }
            Self::Is(function, side) => {
                let kind = side.value(document).kind();
                let kinds = [
                    "",
                    "IS_NULL",
                    "IS_BOOL",
                    "IS_NUMBER",
                    "IS_STRING",
                    "IS_ARRAY",
                    "IS_OBJECT",
                ];
                Truth::of(kinds[kind] == *function || (*function == "IS_DEFINED" && kind > 0))
            }
            Self::Starts(side, prefix, ignore_case) => {
                let (Plain::Text(text), Plain::Text(prefix)) =
                    (side.value(document), prefix.value(document))
                else {
                    return Truth::UNDEFINED;
                };
                let folded = |text: &[u16]| -> Vec<u16> {
                    let text = String::from_utf16(text).unwrap();
                    let text = if *ignore_case == Some(true) {
                        text.to_lowercase()
                    } else {
                        text
                    };
                    text.encode_utf16().collect()
                };
                let (text, prefix) = (folded(&text), folded(&prefix));
                Truth::of(text.len() >= prefix.len() && text[..prefix.len()] == prefix[..])
            }
            Self::Holds(side) => match side.value(document) {
                Plain::Truth(truth) => Truth::of(truth),
                _ => Truth::UNDEFINED,
            },
            Self::Both(left, right) => left.truth(document).min(right.truth(document)),
            Self::Either(left, right) => left.truth(document).max(right.truth(document)),
            Self::Not(inner) => inner.truth(document).negated(),
        }
    }
}

fn compared(left: &Plain, operator: &str, right: &Plain) -> Truth {
    if left.kind() == 0 || right.kind() == 0 {
        return Truth::UNDEFINED;
    }
    if operator == "=" {
        return Truth::of(left == right);
    }
    if operator == "!=" || operator == "<>" {
        return Truth::of(left != right);
    }
    if left.kind() != right.kind() || left.kind() > 4 {
        return Truth::UNDEFINED;
    }
    let (left, right) = (key(left), key(right));
    Truth::of(match operator {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    })
}

impl Generated {
    pub(super) fn matches(&self, document: &Value) -> bool {
        self.condition
            .as_ref()
            .is_none_or(|condition| condition.truth(document) == Truth::TRUE)
    }

    /// The rows, each step over the whole of the one before.
    pub(super) fn answer(&self, documents: &[Value]) -> Vec<Value> {
        let mut found: Vec<&Value> = Vec::new();
        for document in documents {
            if self.matches(document) {
                found.push(document);
            }
        }
        // Exchanging neighbours until none is out of order.
        let descends = self
            .order
            .first()
            .is_some_and(|(_, descending)| *descending);
        if descends {
            found.reverse();
        }
        for _ in 0..found.len() {
            for n in 1..found.len() {
                if self.is_before(found[n], found[n - 1]) {
                    found.swap(n - 1, n);
                }
            }
        }
        let mut rows: Vec<Value> = Vec::new();
        match &self.selection {
            Selection::Document => rows.extend(found.into_iter().cloned()),
            Selection::Value(path) => {
                rows.extend(
                    found
                        .into_iter()
                        .filter_map(|document| at(document, path).cloned()),
                );
            }
            Selection::Fields(fields) => {
                for document in found {
                    let mut row = Map::new();
                    for (name, path) in fields {
                        if let Some(value) = at(document, path) {
                            row.insert(name.clone(), value.clone());
                        }
                    }
                    rows.push(Value::Object(row));
                }
            }
            Selection::Count(None) => rows.push(found.len().into()),
            Selection::Count(Some(path)) => {
                let defined = found.iter().filter(|document| at(document, path).is_some());
                rows.push(defined.count().into());
            }
            Selection::Counts => rows.push(serde_json::json!({"n": found.len()})),
        }
        let (from, count) = match (self.top, self.window) {
            (Some(top), _) => (0, top),
            (_, Some(window)) => window,
            _ => (0, rows.len()),
        };
        let end = rows.len().min(from + count);
        rows[from.min(end)..end].to_vec()
    }

    fn is_before(&self, one: &Value, other: &Value) -> bool {
        for (path, descending) in &self.order {
            let one = key(&Plain::of(at(one, path)));
            let other = key(&Plain::of(at(other, path)));
            if one != other {
                return (one < other) != *descending;
            }
        }
        false
    }
}
