//! What a column can hold, and how a field of a document becomes it.
//!
//! A number that does not fit is an error, never cut.

mod types;

use std::marker::PhantomData;

use serde::de::value::UnitDeserializer;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserializer, Serialize};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SqlKind {
    /// A truth value. SQLite keeps it as 0 or 1.
    Bool,
    /// A whole number of 64 bits.
    Integer,
    /// A floating-point number of 64 bits.
    Real,
    /// Text.
    Text,
    /// A UUID. SQLite keeps it as text, in lower case with dashes.
    Uuid,
    /// A moment. SQLite keeps it as text, `2026-01-31T12:00:00Z`.
    Timestamp,
    /// A day. SQLite keeps it as text, `2026-01-31`.
    Date,
    /// An exact decimal. SQLite keeps it as text.
    Decimal,
    /// JSON: `jsonb` on PostgreSQL, text on SQLite.
    Json,
}

/// The cells of one column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cells {
    /// Of [`SqlKind::Bool`].
    Bool(Vec<Option<bool>>),
    /// Of [`SqlKind::Integer`].
    Integer(Vec<Option<i64>>),
    /// Of [`SqlKind::Real`].
    Real(Vec<Option<f64>>),
    /// Of every other kind, as text.
    Text(Vec<Option<String>>),
}

impl Cells {
    /// None yet, of that kind.
    pub const fn of(kind: SqlKind) -> Self {
        match kind {
            SqlKind::Bool => Self::Bool(Vec::new()),
            SqlKind::Integer => Self::Integer(Vec::new()),
            SqlKind::Real => Self::Real(Vec::new()),
            _ => Self::Text(Vec::new()),
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Self::Bool(cells) => cells.len(),
            Self::Integer(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn null(&mut self) {
        match self {
            Self::Bool(cells) => cells.push(None),
            Self::Integer(cells) => cells.push(None),
            Self::Real(cells) => cells.push(None),
            Self::Text(cells) => cells.push(None),
        }
    }
}

/// A type that is a column of its own. Whatever else has serde's two traits becomes a column of JSON.
pub trait Cell: Sized {
    /// What the column holds.
    const KIND: SqlKind;
    /// Whether it may be `NULL`.
    const IS_NULLABLE: bool = false;

    /// Reads a field.
    ///
    /// # Errors
    ///
    /// If the field does not fit.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// What an absent field is.
    fn absent() -> Option<Self> {
        None
    }

    /// Adds it to its column.
    fn put(self, cells: &mut Cells);
}

/// A type that can be a column of JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a column",
    note = "columns are integers up to 64 bits, floats, `bool`, `String`, `Uuid`, jiff's `Timestamp` and `Date`, `Decimal`, `serde_json::Value`, `Option`s of these, and, as JSON, whatever implements `Serialize` and `Deserialize`",
    note = "for a child table write `#[column(each = \"…\", table = \"…\")]`"
)]
pub trait Nested: Serialize + DeserializeOwned {}

impl<T: Serialize + DeserializeOwned> Nested for T {}

/// Finds out how a field's type becomes a column: its inherent items are there for a [`Cell`] alone and shadow those of
/// [`AsJson`], which are there for all.
#[doc(hidden)]
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T: Cell> Probe<T> {
    pub const KIND: SqlKind = T::KIND;
    pub const IS_NULLABLE: bool = T::IS_NULLABLE;

    pub fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }

    pub fn absent() -> Option<T> {
        T::absent()
    }

    pub fn put(value: T, cells: &mut Cells) {
        value.put(cells);
    }
}

/// What [`Probe`] has for every other type.
#[doc(hidden)]
pub trait AsJson<T> {
    const KIND: SqlKind = SqlKind::Json;
    /// What is no value of its own is `NULL`, and nobody can say of a type whether it has such.
    const IS_NULLABLE: bool = true;

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error>
    where
        T: Nested,
    {
        T::deserialize(deserializer)
    }

    fn absent() -> Option<T>
    where
        T: Nested,
    {
        T::deserialize(UnitDeserializer::<serde_json::Error>::new()).ok()
    }

    fn put(value: T, cells: &mut Cells)
    where
        T: Nested,
    {
        put_json(&value, cells);
    }
}

impl<T> AsJson<T> for Probe<T> {}

fn put_json<T: Serialize>(value: &T, cells: &mut Cells) {
    // What was read from JSON is JSON again, but for maps whose keys are no texts, which it cannot hold.
    let text = serde_json::to_string(value).ok();
    put_text(text.filter(|text| text != "null"), cells);
}

fn put_text(text: Option<String>, cells: &mut Cells) {
    if let Cells::Text(cells) = cells {
        cells.push(text);
    } else {
        unreachable!("a column has the cells of its kind");
    }
}

/// Reads a field through a function of the user's: `#[column(with = f)]`.
#[doc(hidden)]
pub fn with<'de, D, I, R, T>(deserializer: D, convert: impl FnOnce(I) -> R) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    I: serde::Deserialize<'de>,
    R: Converted<T>,
{
    let value = I::deserialize(deserializer)?;
    convert(value).converted().map_err(D::Error::custom)
}

/// What the function of `#[column(with = f)]` may return: the field's type, or a `Result` of it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the function of `with` can't return `{Self}`",
    label = "expected `{T}` or `Result<{T}, E>`"
)]
pub trait Converted<T> {
    fn converted(self) -> Result<T, String>;
}

impl<T, E: std::fmt::Display> Converted<T> for Result<T, E> {
    fn converted(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}
