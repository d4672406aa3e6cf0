//! From a tree into a hook's type: what decodes from a text decodes from its tree, into the same value.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde_json::Error;

use super::{Branch, Kind};

/// How `serde_json` asks for a value as it stands in the text.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

impl<'t> Branch<'t> {
    fn unexpected(self) -> Unexpected<'t> {
        match self.kind() {
            Kind::Null => Unexpected::Unit,
            Kind::Bool(flag) => Unexpected::Bool(flag),
            Kind::Unsigned(number) => Unexpected::Unsigned(number),
            Kind::Signed(number) => Unexpected::Signed(number),
            Kind::Float(number) => Unexpected::Float(number),
            Kind::Text(text) => Unexpected::Str(text),
            Kind::List(_) => Unexpected::Seq,
            Kind::Fields(_) => Unexpected::Map,
        }
    }
}

/// One of the requests that take whatever kind of value is there.
macro_rules! as_found {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                self.deserialize_any(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Branch<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(flag) => visitor.visit_bool(flag),
            Kind::Unsigned(number) => visitor.visit_u64(number),
            Kind::Signed(number) => visitor.visit_i64(number),
            Kind::Float(number) => visitor.visit_f64(number),
            Kind::Text(text) => visitor.visit_borrowed_str(text),
            Kind::List(count) => {
                let mut items = Items(Inside::of(self, count));
                let value = visitor.visit_seq(&mut items)?;
                match items.0.count {
                    0 => Ok(value),
                    more => Err(Error::custom(format_args!("{more} elements too many"))),
                }
            }
            Kind::Fields(count) => {
                let mut fields = Fields(Inside::of(self, count));
                let value = visitor.visit_map(&mut fields)?;
                match fields.0.count {
                    0 => Ok(value),
                    more => Err(Error::custom(format_args!("{more} fields too many"))),
                }
            }
        }
    }

    as_found! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string
        deserialize_unit deserialize_seq deserialize_map deserialize_identifier
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind() {
            Kind::Text(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind() {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == RAW_VALUE {
            let text = serde_json::to_string(&self)?;
            let raw = [(RAW_VALUE, text)].into_iter();
            return visitor.visit_map(serde::de::value::MapDeserializer::new(raw));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.kind() {
            Kind::Text(name) => visitor.visit_enum(StrDeserializer::new(name)),
            Kind::Fields(_) => {
                let mut fields = self.fields();
                match (fields.next(), fields.next()) {
                    (Some((name, content)), None) => visitor.visit_enum(Variant { name, content }),
                    _ => Err(Error::invalid_value(
                        Unexpected::Map,
                        &"an object with one field",
                    )),
                }
            }
            _ => Err(Error::invalid_type(
                self.unexpected(),
                &"a string or an object",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

impl<'de> IntoDeserializer<'de, Error> for Branch<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// What is left of a list or an object.
struct Inside<'de> {
    next: Branch<'de>,
    count: usize,
}

impl<'de> Inside<'de> {
    fn of(branch: Branch<'de>, count: usize) -> Self {
        let next = Branch {
            at: branch.at + 1,
            ..branch
        };
        Self { next, count }
    }

    /// The next value, which is then behind.
    fn value(&mut self) -> Branch<'de> {
        let value = self.next;
        self.next.at = value.tree.behind(value.at);
        value
    }
}

struct Items<'de>(Inside<'de>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.0.count == 0 {
            return Ok(None);
        }
        self.0.count -= 1;
        seed.deserialize(self.0.value()).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.count)
    }
}

struct Fields<'de>(Inside<'de>);

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.0.count == 0 {
            return Ok(None);
        }
        self.0.count -= 1;
        let name = self.0.value();
        seed.deserialize(Name(name.as_str().unwrap_or_default()))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.0.value())
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.count)
    }
}

/// A field's name. Maps may have keys of other types than strings: those are read from the text, as from JSON.
struct Name<'de>(&'de str);

/// A request for a key that stands in the text as a number or a flag.
macro_rules! from_text {
    ($($method:ident => $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                match self.0.parse() {
                    Ok(key) => visitor.$visit(key),
                    Err(_) => visitor.visit_borrowed_str(self.0),
                }
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    from_text! {
        deserialize_bool => visit_bool
        deserialize_i8 => visit_i8 deserialize_i16 => visit_i16 deserialize_i32 => visit_i32
        deserialize_i64 => visit_i64 deserialize_i128 => visit_i128
        deserialize_u8 => visit_u8 deserialize_u16 => visit_u16 deserialize_u32 => visit_u32
        deserialize_u64 => visit_u64 deserialize_u128 => visit_u128
        deserialize_f32 => visit_f32 deserialize_f64 => visit_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(StrDeserializer::new(self.0))
    }

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// `{"name": content}`: a variant of an enum.
struct Variant<'de> {
    name: &'de str,
    content: Branch<'de>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Content<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Content<'de>), Error> {
        let name = seed.deserialize(Name(self.name))?;
        Ok((name, Content(self.content)))
    }
}

struct Content<'de>(Branch<'de>);

impl Content<'_> {
    fn is_no<T>(&self, expected: &'static str) -> Result<T, Error> {
        Err(Error::invalid_type(self.0.unexpected(), &expected))
    }
}

impl<'de> VariantAccess<'de> for Content<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.0.kind() {
            Kind::Null => Ok(()),
            _ => self.is_no("null"),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        match self.0.kind() {
            Kind::List(_) => self.0.deserialize_any(visitor),
            _ => self.is_no("an array"),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0.kind() {
            Kind::Fields(_) => self.0.deserialize_any(visitor),
            _ => self.is_no("an object"),
        }
    }
}
