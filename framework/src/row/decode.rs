//! Reads the fields at some paths of a document, in one pass and nothing else.
//!
//! The paths are a tree of [`Node`]s; what lies at a path is handed to [`Slots`], which generated code implements: one
//! slot for each field. A path whose way is cut off, by a value that is no object, is absent.

use std::fmt;

use serde::Deserializer;
use serde::de::{
    Deserialize as _, DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::Row;
use crate::change::tree::{Branch, Tree};

/// A name on the way to fields.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The name.
    pub name: &'static str,
    /// The slots that take what lies here.
    pub slots: &'static [usize],
    /// What lies inside.
    pub inside: &'static [Self],
}

/// Where fields are put as they are found.
pub trait Slots: Default {
    /// The ways to the fields.
    const NODES: &'static [Node];

    /// Reads one field.
    ///
    /// # Errors
    ///
    /// If it does not fit.
    fn fill<'de, D: Deserializer<'de>>(
        &mut self,
        slot: usize,
        deserializer: D,
    ) -> Result<(), D::Error>;

    /// The path of a slot, for messages.
    fn path(slot: usize) -> &'static str;
}

/// Fills the slots from one object.
///
/// # Errors
///
/// If it is no object, or a field does not fit.
pub fn read<'de, S: Slots, D: Deserializer<'de>>(deserializer: D) -> Result<S, D::Error> {
    let mut slots = S::default();
    deserializer.deserialize_map(Object {
        slots: &mut slots,
        nodes: S::NODES,
    })?;
    Ok(slots)
}

/// What a slot holds, or what its field is where it is absent.
///
/// # Errors
///
/// If there must be one.
pub fn take<T, E: Error>(
    slot: Option<T>,
    absent: impl FnOnce() -> Option<T>,
    path: &'static str,
) -> Result<T, E> {
    slot.or_else(absent)
        .ok_or_else(|| E::custom(format_args!("the field `{path}` is missing")))
}

/// Reads an array of rows. `null` is an empty one.
///
/// # Errors
///
/// If it is no array, or an item does not fit.
pub fn each<'de, R: Row, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<R>, D::Error> {
    struct Items<R>(std::marker::PhantomData<R>);

    impl<'de, R: Row> Visitor<'de> for Items<R> {
        type Value = Vec<R>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of objects")
        }

        fn visit_unit<E>(self) -> Result<Vec<R>, E> {
            Ok(Vec::new())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<R>, A::Error> {
            let mut items = Vec::with_capacity(seq.size_hint().unwrap_or_default().min(1024));
            while let Some(item) = seq.next_element_seed(Item(std::marker::PhantomData))? {
                items.push(item);
            }
            Ok(items)
        }
    }

    struct Item<R>(std::marker::PhantomData<R>);

    impl<'de, R: Row> DeserializeSeed<'de> for Item<R> {
        type Value = R;

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<R, D::Error> {
            R::read(deserializer)
        }
    }

    deserializer.deserialize_any(Items(std::marker::PhantomData))
}

struct Object<'s, S> {
    slots: &'s mut S,
    nodes: &'static [Node],
}

impl<'de, S: Slots> Visitor<'de> for Object<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { slots, nodes } = self;
        while let Some(node) = map.next_key_seed(Name(nodes))? {
            match node {
                Some(node) => map.next_value_seed(Value {
                    slots: &mut *slots,
                    node,
                })?,
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Finds the node of a field's name.
struct Name(&'static [Node]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<&'static Node>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<&'static Node>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|node| node.name == name))
    }
}

/// Reads what lies at a node.
struct Value<'s, S> {
    slots: &'s mut S,
    node: &'static Node,
}

impl<'de, S: Slots> DeserializeSeed<'de> for Value<'_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let Self { slots, node } = self;
        match *node {
            Node {
                slots: [slot],
                inside: [],
                ..
            } => fill(slots, *slot, deserializer),
            Node {
                slots: [], inside, ..
            } => deserializer.deserialize_any(Inside(Object {
                slots,
                nodes: inside,
            })),
            // Several fields are read from one value, which can be read once.
            Node {
                slots: several,
                inside,
                ..
            } => {
                let tree = Tree::deserialize(deserializer)?;
                for slot in several {
                    fill(slots, *slot, tree.root()).map_err(D::Error::custom)?;
                }
                let inside = Inside(Object {
                    slots,
                    nodes: inside,
                });
                descend(tree.root(), inside).map_err(D::Error::custom)
            }
        }
    }
}

fn descend<S: Slots>(branch: Branch<'_>, inside: Inside<'_, S>) -> Result<(), serde_json::Error> {
    branch.deserialize_any(inside)
}

fn fill<'de, S: Slots, D: Deserializer<'de>>(
    slots: &mut S,
    slot: usize,
    deserializer: D,
) -> Result<(), D::Error> {
    slots.fill(slot, deserializer).map_err(|error| {
        let path = S::path(slot);
        let text = error.to_string();
        // An item of an array has named its own field already.
        D::Error::custom(format_args!("the field `{path}`: {text}"))
    })
}

/// Goes on inside an object; what is none holds no fields.
struct Inside<'s, S>(Object<'s, S>);

impl<'de, S: Slots> Visitor<'de> for Inside<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.visit_map(map)
    }
}
