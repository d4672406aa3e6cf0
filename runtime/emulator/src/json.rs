//! JSON as it stands: what every reader of a document can decode, and values of it that mean what the text says.
//!
//! `serde_json` skips over much that it would refuse to decode (halves of surrogate pairs, numbers beyond 64-bit floats,
//! deep nesting), and takes objects with certain names for its own (`$serde_json::private::RawValue`). A document that
//! one reader stores and the next cannot decode stops whoever reads the feed, so the first are refused when they are
//! written; the second are plain objects to whoever decodes with [`value`].

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Checks that all of a text decodes.
pub(crate) fn check(text: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<Sound>(text).map(drop)
}

/// Decodes a text.
pub(crate) fn value(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).map(|Plain(value)| value)
}

/// Decoded to the last value, and dropped.
struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        while fields.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

/// A value that no name makes into something else.
struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
                Ok(Value::Bool(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value::from(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value::from(number))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
                Number::from_f64(number)
                    .map(Value::Number)
                    .ok_or_else(|| E::custom("number out of range"))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::from(text))
            }

            fn visit_string<E>(self, text: String) -> Result<Value, E> {
                Ok(Value::String(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(Plain(value)) = items.next_element()? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
                let mut values = Map::new();
                while let Some((name, Plain(value))) = fields.next_entry()? {
                    values.insert(name, value);
                }
                Ok(Value::Object(values))
            }
        }

        deserializer.deserialize_any(Any).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSOUND: [&str; 5] = [
        r#"{"a":"\ud800"}"#,
        r#"{"a":"\udc00 x"}"#,
        r#"{"\ud800":1}"#,
        r#"{"a":1e999}"#,
        r#"{"a":[{"b":-1e400}]}"#,
    ];

    #[test]
    fn what_some_reader_cannot_decode_is_found() {
        for text in UNSOUND {
            assert!(check(text.as_bytes()).is_err(), "{text}");
            assert!(value(text.as_bytes()).is_err(), "{text}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(check(nested(127).as_bytes()).is_ok());
        assert!(check(nested(128).as_bytes()).is_err());
        for text in [
            r#"{"a":"\ud83d\ude00"}"#,
            r#"{"a":[1.5,-0,1e300,null]}"#,
            "3",
        ] {
            assert!(check(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn no_name_means_more_than_it_says() {
        for name in [
            "$serde_json::private::RawValue",
            "$serde_json::private::Number",
            "a",
        ] {
            for inner in ["5", "\"777\"", "{\"b\":[true,null,-1.5]}"] {
                let text = format!("{{\"{name}\":{inner}}}");
                let found = value(text.as_bytes()).unwrap();
                assert_eq!(found[name].to_string(), inner);
                assert_eq!(found.to_string(), text);
            }
        }
    }
}
