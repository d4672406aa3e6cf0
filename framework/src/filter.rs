//! `only(…)` and `soft_delete(…)`: conditions on a document, checked before it is decoded.

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

/// Whether all `conditions` hold for `document`.
///
/// # Errors
///
/// If the body is not a JSON object.
pub fn matches(conditions: &[Condition], document: &Document) -> Result<bool, serde_json::Error> {
    let value: serde_json::Value = document.decode()?;
    Ok(conditions.iter().all(|condition| {
        let found = condition
            .path
            .iter()
            .try_fold(&value, |value, name| value.get(name));
        match (condition.test, found) {
            (_, None) => false,
            (Test::Set, Some(value)) => {
                !value.is_null() && value != &serde_json::Value::Bool(false)
            }
            (Test::In(literals), Some(value)) => literals.iter().any(|literal| match literal {
                Literal::Text(text) => value.as_str() == Some(text),
                Literal::Integer(number) => value.as_i64() == Some(*number),
                Literal::Bool(flag) => value.as_bool() == Some(*flag),
                Literal::Null => value.is_null(),
            }),
        }
    }))
}
