//! `only(…)` and `soft_delete(…)`: conditions on a document, checked before it is decoded.
//!
//! Every change goes through here, so a body is read once for all conditions, and nothing is built.

#[cfg(test)]
mod tests;

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::change::Document;

/// One condition on a document. All conditions of an `only(…)` must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// The path of field names: `only(contact.kind = …)` is `["contact", "kind"]`.
    pub path: &'static [&'static str],
    /// What must be there.
    pub test: Test,
}

/// What a [`Condition`] asks of the value at its path.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Test {
    /// One of these: `only(kind in ("a", "b"))`, or a single one for `only(kind = "a")`.
    In(&'static [Literal]),
    /// Present, and neither `null` nor `false`: `soft_delete(deletedAt)`, `soft_delete(deleted)`.
    Set,
}

/// A literal in a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// A string.
    Text(&'static str),
    /// A whole number.
    Integer(i64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`. An absent field is not `null`.
    Null,
}

/// Whether all `conditions` hold for `document`. Of several fields of one name the last counts.
///
/// # Errors
///
/// If the body is not a JSON object.
pub fn matches(conditions: &[Condition], document: &Document) -> Result<bool, serde_json::Error> {
    for chunk in conditions.chunks(Set::BITS as usize) {
        if scan(chunk, document)? != all(chunk.len()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A set of conditions, by their index.
pub(crate) type Set = u128;

/// The first `count` conditions.
pub(crate) const fn all(count: usize) -> Set {
    if count < Set::BITS as usize {
        (1 << count) - 1
    } else {
        Set::MAX
    }
}

/// Which of at most 128 `conditions` hold for `document`: one pass over the body, without a copy. What no condition names is only skipped.
pub(crate) fn scan(
    conditions: &[Condition],
    document: &Document,
) -> Result<Set, serde_json::Error> {
    debug_assert!(conditions.len() <= Set::BITS as usize);
    let mut holding = 0;
    document.visit(Fields(Scan {
        conditions,
        holding: &mut holding,
        depth: 0,
        inside: all(conditions.len()),
    }))?;
    Ok(holding)
}

/// The conditions that concern one object or value.
struct Scan<'s> {
    conditions: &'s [Condition],
    holding: &'s mut Set,
    /// How many names of the paths led here.
    depth: usize,
    /// Conditions whose path goes on inside.
    inside: Set,
}

/// Visits an object.
struct Fields<'s>(Scan<'s>);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Scan {
            conditions,
            holding,
            depth,
            inside,
        } = self.0;
        let name = Name {
            conditions,
            depth,
            inside,
        };
        while let Some((here, inside)) = map.next_key_seed(name)? {
            if here | inside == 0 {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // The last field of a name counts.
            *holding &= !(here | inside);
            map.next_value_seed(Field {
                here,
                scan: Scan {
                    conditions,
                    holding: &mut *holding,
                    depth: depth + 1,
                    inside,
                },
            })?;
        }
        Ok(())
    }
}

/// Reads a field's name: the conditions on its value, and those on what is inside.
#[derive(Clone, Copy)]
struct Name<'s> {
    conditions: &'s [Condition],
    depth: usize,
    inside: Set,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = (Set, Set);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(Set, Set), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = (Set, Set);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<(Set, Set), E> {
        let (mut here, mut inside) = (0, 0);
        for index in indices(self.inside) {
            let path = self.conditions[index].path;
            if path[self.depth] == name {
                if path.len() == self.depth + 1 {
                    here |= 1 << index;
                } else {
                    inside |= 1 << index;
                }
            }
        }
        Ok((here, inside))
    }
}

/// Reads the value of a field that conditions name.
struct Field<'s> {
    /// Conditions on the value itself.
    here: Set,
    scan: Scan<'s>,
}

impl Field<'_> {
    /// Tells the conditions what the value is: whether it counts as set, and which literals it equals.
    fn is(&mut self, set: bool, equals: impl Fn(&Literal) -> bool) {
        for index in indices(self.here) {
            let holds = match self.scan.conditions[index].test {
                Test::Set => set,
                Test::In(literals) => literals.iter().any(&equals),
            };
            if holds {
                *self.scan.holding |= 1 << index;
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(mut self, found: &str) -> Result<(), E> {
        self.is(
            true,
            |literal| matches!(literal, Literal::Text(text) if *text == found),
        );
        Ok(())
    }

    fn visit_bool<E>(mut self, found: bool) -> Result<(), E> {
        self.is(found, |literal| *literal == Literal::Bool(found));
        Ok(())
    }

    fn visit_i64<E>(mut self, found: i64) -> Result<(), E> {
        self.is(true, |literal| *literal == Literal::Integer(found));
        Ok(())
    }

    fn visit_u64<E>(mut self, found: u64) -> Result<(), E> {
        self.is(true, |literal| {
            matches!(literal, Literal::Integer(number) if u64::try_from(*number) == Ok(found))
        });
        Ok(())
    }

    fn visit_f64<E>(mut self, _: f64) -> Result<(), E> {
        self.is(true, |_| false);
        Ok(())
    }

    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.is(false, |literal| *literal == Literal::Null);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.is(true, |_| false);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.is(true, |_| false);
        Fields(self.scan).visit_map(map)
    }
}

fn indices(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = (set != 0).then(|| set.trailing_zeros())?;
        set &= set - 1;
        Some(index as usize)
    })
}
