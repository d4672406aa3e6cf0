//! The value of a partition key: its text, its identity and its place in the key space.
//!
//! Two values are one key exactly when the service hashes them alike: numbers are doubles, so `5`
//! and `5.0` are one key, and the text of a key is canonical.

use std::fmt;

use serde_json::value::RawValue;

use crate::hash::{Epk, LEVELS};

/// The longest text of a partition key, in bytes, as on the service.
const LIMIT: usize = 2048;

/// The value of a document's partition key: one component, or up to three of a hierarchical key.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionKey(Vec<Component>);

#[derive(Clone, Debug, PartialEq)]
enum Component {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String(String),
}

/// Why a text is no partition key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is an object, an array, or no JSON.
    #[error(
        "a partition key is a string, a number, true, false, null, or missing (written [{{}}]), not {0}"
    )]
    Kind(String),
    /// A number that no double holds.
    #[error("the partition key {0} is out of the range of a double")]
    Number(String),
    /// It is longer than the service takes.
    #[error("the partition key is {0} bytes long, the limit is {LIMIT}")]
    Long(usize),
    /// It has no component, or more than a key can have.
    #[error("{0} has {1} partition key values, a key has 1 to 3")]
    Count(String, usize),
}

impl PartitionKey {
    /// The key of documents without a value at the partition key's one path.
    pub fn undefined() -> Self {
        Self(vec![Component::Undefined])
    }

    /// A key that is a string.
    pub fn string(value: impl Into<String>) -> Self {
        Self(vec![Component::String(value.into())])
    }

    /// The number of its components.
    pub fn levels(&self) -> usize {
        self.0.len()
    }

    /// Reads a key from JSON text: a value, or an array of one to three values, where `{}` in the array
    /// stands for a missing one.
    pub fn from_json(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if !text.starts_with('[') {
            return Ok(Self(vec![Component::read(text)?]));
        }
        let values: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|_| KeyError::Kind(shown(text)))?;
        if !(1..=LEVELS).contains(&values.len()) {
            return Err(KeyError::Count(shown(text), values.len()));
        }
        let component = |value: &&RawValue| {
            let value = value.get();
            let is_undefined = value
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'))
                .is_some_and(|fields| fields.trim().is_empty());
            if is_undefined {
                Ok(Component::Undefined)
            } else {
                Component::read(value)
            }
        };
        let key = Self(values.iter().map(component).collect::<Result<_, _>>()?);
        key.checked()
    }

    /// The key of a document, from the JSON texts of the values at the collection's paths. None: there is none.
    pub(crate) fn of_values(texts: &[Option<String>]) -> Result<Self, KeyError> {
        let component = |text: &Option<String>| match text {
            Some(text) => Component::read(text),
            None => Ok(Component::Undefined),
        };
        Self(texts.iter().map(component).collect::<Result<_, _>>()?).checked()
    }

    fn checked(self) -> Result<Self, KeyError> {
        let size = |component: &Component| match component {
            Component::String(text) => text.len(),
            _ => 0,
        };
        match self.0.iter().map(size).sum() {
            size if size > LIMIT => Err(KeyError::Long(size)),
            _ => Ok(self),
        }
    }

    /// The part of the key space that holds the documents of this key, or of all keys that begin with it: begin,
    /// inclusive, and end, exclusive, in hexadecimal.
    pub fn bounds(&self) -> (String, String) {
        let levels = self.levels();
        let begin = self.epk();
        (begin.hex(levels), begin.behind(levels).hex(levels))
    }

    /// The place in the key space.
    pub(crate) fn epk(&self) -> Epk {
        let components: Vec<_> = self.0.iter().map(Component::bytes).collect();
        Epk::of(components.iter().map(Vec::as_slice))
    }
}

impl Component {
    /// Reads a component from the JSON text of the value in the document.
    fn read(text: &str) -> Result<Self, KeyError> {
        let kind = || KeyError::Kind(shown(text));
        let component = match text.as_bytes().first() {
            Some(b'"') => {
                let value: String = serde_json::from_str(text).map_err(|_| kind())?;
                if value.len() > LIMIT {
                    return Err(KeyError::Long(value.len()));
                }
                Component::String(value)
            }
            Some(b'n' | b't' | b'f') => {
                match serde_json::from_str::<Option<bool>>(text).map_err(|_| kind())? {
                    Some(value) => Component::Bool(value),
                    None => Component::Null,
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                serde_json::from_str::<serde_json::Number>(text).map_err(|error| {
                    if error.to_string().contains("out of range") {
                        KeyError::Number(shown(text))
                    } else {
                        kind()
                    }
                })?;
                // The text itself is parsed: going through an integer would lose the sign of -0.
                let value: f64 = text.parse().map_err(|_| kind())?;
                if !value.is_finite() {
                    return Err(KeyError::Number(shown(text)));
                }
                Component::Number(value)
            }
            _ => return Err(kind()),
        };
        Ok(component)
    }

    /// The tagged form that is hashed.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        match self {
            Self::Undefined => bytes.push(0x00),
            Self::Null => bytes.push(0x01),
            Self::Bool(false) => bytes.push(0x02),
            Self::Bool(true) => bytes.push(0x03),
            Self::Number(value) => {
                bytes.push(0x05);
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            Self::String(value) => {
                bytes.push(0x08);
                bytes.extend_from_slice(value.as_bytes());
                bytes.push(0xFF);
            }
        }
        bytes
    }
}

impl From<&str> for PartitionKey {
    fn from(value: &str) -> Self {
        Self::string(value)
    }
}

/// The canonical text: a JSON array, as on the wire.
impl fmt::Display for PartitionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, component) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            component.fmt(f)?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("{}"),
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => {
                // Below 2^53 every whole double is exactly that whole number.
                let is_whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
                if is_whole && !(*value == 0.0 && value.is_sign_negative()) {
                    write!(f, "{value:.0}")
                } else {
                    write!(f, "{}", serde_json::Value::from(*value))
                }
            }
            Self::String(value) => write!(f, "{}", serde_json::Value::from(value.as_str())),
        }
    }
}

fn shown(text: &str) -> String {
    const SHOWN: usize = 80;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_canonical() {
        for (text, canonical) in [
            ("\"x\"", "[\"x\"]"),
            ("[\"x\"]", "[\"x\"]"),
            (" [ \"\\u0078\" ] ", "[\"x\"]"),
            ("5", "[5]"),
            ("[5.0]", "[5]"),
            ("5e0", "[5]"),
            ("-0", "[-0.0]"),
            ("0.5", "[0.5]"),
            ("9007199254740993", "[9007199254740992.0]"),
            ("null", "[null]"),
            ("true", "[true]"),
            ("[{}]", "[{}]"),
            ("[{ }]", "[{}]"),
            ("[\"a\", 1.0, {}]", "[\"a\",1,{}]"),
        ] {
            let key = PartitionKey::from_json(text).unwrap();
            assert_eq!(key.to_string(), canonical, "{text}");
            assert_eq!(PartitionKey::from_json(canonical).unwrap(), key);
        }
    }

    #[test]
    fn refuses_what_is_no_key() {
        for text in [
            "{}",
            "[]",
            "[1,2,3,4]",
            "[[1]]",
            "[{\"a\":1}]",
            "nul",
            "",
            "1e999",
            "x",
            "01",
        ] {
            assert!(PartitionKey::from_json(text).is_err(), "{text}");
        }
        let long = format!("\"{}\"", "k".repeat(LIMIT + 1));
        assert!(matches!(
            PartitionKey::from_json(&long),
            Err(KeyError::Long(2049))
        ));
    }
}
