//! Values, parameters and rows of the portable [`Tx`](crate::Tx).

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

/// A Rust value that can be a parameter.
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
pub trait FromValue: Sized {
    /// Converts it; the value comes back where it does not fit.
    fn from_value(value: Value) -> Result<Self, Value>;
}

/// A Rust value that a row can become: one [`FromValue`] or a tuple of them.
pub trait FromRow: Sized {
    /// Converts it.
    ///
    /// # Errors
    ///
    /// If the number of columns differs, or a column does not fit.
    fn from_row(row: Row) -> Result<Self, TxError>;
}
