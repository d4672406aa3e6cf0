//! Values, parameters and rows of the portable [`Tx`](crate::Tx).
//!
//! Conversions are exact or an error: a number that does not fit is never cut.

mod params;
mod rows;

use rust_decimal::Decimal;

use crate::extract::tx::TxError;

/// One SQL value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `NULL`.
    Null,
    /// A truth value. SQLite keeps it as 0 or 1.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
    /// An exact decimal. SQLite keeps it as text.
    Decimal(Decimal),
}

/// One row: its columns, from left to right.
pub type Row = Vec<Value>;

impl Value {
    /// What kind of value this is, for messages. The value itself may be nobody's business.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a truth value",
            Self::Integer(_) => "a whole number",
            Self::Real(_) => "a floating-point number",
            Self::Text(_) => "text",
            Self::Blob(_) => "bytes",
            Self::Decimal(_) => "a decimal",
        }
    }
}

/// A Rust value that can be a parameter. `u64` is not: SQL's whole numbers end at `i64::MAX`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an SQL parameter",
    note = "parameters are integers, floats, `bool`, strings, byte strings, `Decimal`, references to them and `Option`s of them"
)]
pub trait IntoValue {
    /// Converts it.
    fn into_value(self) -> Value;
}

/// A tuple of parameters: `(&user.id, cents)`, `(id,)`, `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the parameters of a statement",
    note = "parameters are a tuple: `()`, `(id,)`, `(&user.id, cents)`"
)]
pub trait Params: Send {
    /// Converts them.
    fn into_values(self) -> Vec<Value>;
}

/// A Rust value that a column can become.
///
/// Conversions that lose nothing are made: a whole number becomes a smaller integer type where it
/// fits, a `Decimal`, a float below 2⁵³, or a `bool` where it is 0 or 1; text and exact floats become a `Decimal`; a
/// decimal without fraction becomes an integer (PostgreSQL's `sum(bigint)` is one).
#[diagnostic::on_unimplemented(
    message = "a column can't become `{Self}`",
    note = "columns become integers, floats, `bool`, `String`, `ByteString`, `Vec<u8>`, `Decimal` and `Option`s of them"
)]
pub trait FromValue: Sized {
    /// Converts it.
    ///
    /// # Errors
    ///
    /// The value itself, where it does not fit.
    fn from_value(value: Value) -> Result<Self, Value>;
}

/// A Rust value that a row can become: one [`FromValue`], or a tuple of up to 16.
#[diagnostic::on_unimplemented(
    message = "a row can't become `{Self}`",
    note = "rows become one column's type, `i64`, or a tuple of them, `(String, i64)`"
)]
pub trait FromRow: Sized {
    /// Converts it.
    ///
    /// # Errors
    ///
    /// If the number of columns differs, or a column does not fit.
    fn from_row(row: Row) -> Result<Self, TxError>;
}
