//! A document that a feed already parsed, built once from what the feed's client hands over.
//!
//! Whatever is JSON becomes a [`Tree`], so that no document fails the page it came in; it is decoded from there into the
//! hook's type, or scanned by filters, as often as needed and without a text in between. It is two blocks of memory, however
//! large the document: what the client allocated for each string is free again at once.

mod decode;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// A JSON value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// All names and strings.
    text: String,
    /// The values, each before those inside it; a field's name before its value.
    nodes: Vec<Node>,
}

/// A value. What lies inside ends before the node at `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text { start: u32, end: u32 },
    List { count: u32, end: u32 },
    Fields { count: u32, end: u32 },
}

/// A value inside a [`Tree`].
#[derive(Clone, Copy, Debug)]
pub struct Branch<'t> {
    tree: &'t Tree,
    at: usize,
}

/// What kind of value a [`Branch`] is. Numbers are kept as they were parsed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that is not negative.
    Unsigned(u64),
    /// A negative whole number.
    Signed(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(&'t str),
    /// An array of so many values.
    List(usize),
    /// An object of so many fields.
    Fields(usize),
}

impl Tree {
    /// The value as a whole.
    pub fn root(&self) -> Branch<'_> {
        Branch { tree: self, at: 0 }
    }

    fn text(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    /// The node behind a value and all inside it.
    fn behind(&self, at: usize) -> usize {
        match self.nodes[at] {
            Node::List { end, .. } | Node::Fields { end, .. } => end as usize,
            _ => at + 1,
        }
    }

    fn put<E: Error>(&mut self, text: &str) -> Result<(), E> {
        let start = place(self.text.len())?;
        self.text.push_str(text);
        let end = place(self.text.len())?;
        self.nodes.push(Node::Text { start, end });
        Ok(())
    }
}

/// Documents have some megabytes at most.
fn place<E: Error>(place: usize) -> Result<u32, E> {
    u32::try_from(place).map_err(|_| E::custom("a document of gigabytes"))
}

impl<'t> Branch<'t> {
    /// What kind of value it is.
    pub fn kind(self) -> Kind<'t> {
        match self.tree.nodes[self.at] {
            Node::Null => Kind::Null,
            Node::Bool(flag) => Kind::Bool(flag),
            Node::Unsigned(number) => Kind::Unsigned(number),
            Node::Signed(number) => Kind::Signed(number),
            Node::Float(number) => Kind::Float(number),
            Node::Text { start, end } => Kind::Text(self.tree.text(start, end)),
            Node::List { count, .. } => Kind::List(count as usize),
            Node::Fields { count, .. } => Kind::Fields(count as usize),
        }
    }

    /// The field of that name, if this is an object that has one. Of several the last counts.
    pub fn get(self, name: &str) -> Option<Self> {
        self.fields()
            .filter(|(field, _)| *field == name)
            .last()
            .map(|(_, value)| value)
    }

    /// The fields, if this is an object.
    pub fn fields(self) -> impl Iterator<Item = (&'t str, Self)> {
        let Self { tree, mut at } = self;
        let count = match self.kind() {
            Kind::Fields(count) => count,
            _ => 0,
        };
        at += 1;
        (0..count).map(move |_| {
            let name = Self { tree, at }.as_str().unwrap_or_default();
            let value = Self { tree, at: at + 1 };
            at = tree.behind(value.at);
            (name, value)
        })
    }

    /// The values, if this is an array.
    fn items(self) -> impl Iterator<Item = Self> {
        let Self { tree, mut at } = self;
        let count = match self.kind() {
            Kind::List(count) => count,
            _ => 0,
        };
        at += 1;
        (0..count).map(move |_| {
            let item = Self { tree, at };
            at = tree.behind(at);
            item
        })
    }

    /// The text, if this is a string.
    pub fn as_str(self) -> Option<&'t str> {
        match self.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if this is a whole one that fits.
    pub fn as_i64(self) -> Option<i64> {
        match self.kind() {
            Kind::Unsigned(number) => i64::try_from(number).ok(),
            Kind::Signed(number) => Some(number),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Room for a document of a kilobyte.
        let mut tree = Self {
            text: String::with_capacity(1024),
            nodes: Vec::with_capacity(128),
        };
        Growth(&mut tree).deserialize(deserializer)?;
        Ok(tree)
    }
}

/// Appends a value.
struct Growth<'t>(&'t mut Tree);

impl Growth<'_> {
    fn leaf(self, node: Node) {
        self.0.nodes.push(node);
    }
}

impl<'de> DeserializeSeed<'de> for Growth<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Growth<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.leaf(Node::Null);
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        self.leaf(Node::Null);
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<(), E> {
        self.leaf(Node::Bool(flag));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.leaf(Node::Unsigned(number));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.leaf(u64::try_from(number).map_or(Node::Signed(number), Node::Unsigned));
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.leaf(Node::Float(number));
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.put(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self(tree) = self;
        let at = tree.nodes.len();
        tree.nodes.push(Node::Null);
        let mut count = 0;
        while seq.next_element_seed(Growth(tree))?.is_some() {
            count += 1;
        }
        let end = place(tree.nodes.len())?;
        tree.nodes[at] = Node::List { count, end };
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(tree) = self;
        let at = tree.nodes.len();
        tree.nodes.push(Node::Null);
        let mut count = 0;
        while map.next_key_seed(Growth(tree))?.is_some() {
            map.next_value_seed(Growth(tree))?;
            count += 1;
        }
        let end = place(tree.nodes.len())?;
        tree.nodes[at] = Node::Fields { count, end };
        Ok(())
    }
}

impl Serialize for Branch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool(flag) => serializer.serialize_bool(flag),
            Kind::Unsigned(number) => serializer.serialize_u64(number),
            Kind::Signed(number) => serializer.serialize_i64(number),
            Kind::Float(number) => serializer.serialize_f64(number),
            Kind::Text(text) => serializer.serialize_str(text),
            Kind::List(_) => serializer.collect_seq(self.items()),
            Kind::Fields(count) => {
                let mut map = serializer.serialize_map(Some(count))?;
                for (name, value) in self.fields() {
                    map.serialize_entry(name, &value)?;
                }
                map.end()
            }
        }
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}
