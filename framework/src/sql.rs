//! Values, parameters and rows of the portable [`Tx`](crate::Tx).

use bytestring::ByteString;
use rust_decimal::Decimal;

use crate::extract::tx::TxError;
use crate::key::DocumentId;

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

macro_rules! into_value {
    ($($ty:ty => $value:expr),* $(,)?) => {$(
        impl IntoValue for $ty {
            fn into_value(self) -> Value {
                let convert: fn($ty) -> Value = $value;
                convert(self)
            }
        }
    )*};
}

into_value! {
    Value => |value| value,
    bool => Value::Bool,
    i8 => |number| Value::Integer(number.into()),
    i16 => |number| Value::Integer(number.into()),
    i32 => |number| Value::Integer(number.into()),
    i64 => Value::Integer,
    u8 => |number| Value::Integer(number.into()),
    u16 => |number| Value::Integer(number.into()),
    u32 => |number| Value::Integer(number.into()),
    f32 => |number| Value::Real(number.into()),
    f64 => Value::Real,
    &str => |text| Value::Text(text.to_owned()),
    String => Value::Text,
    ByteString => |text| Value::Text(text.to_string()),
    DocumentId => |id| Value::Text(id.to_string()),
    &[u8] => |bytes| Value::Blob(bytes.to_vec()),
    Vec<u8> => Value::Blob,
    Decimal => Value::Decimal,
}

impl<T: IntoValue + Clone> IntoValue for &T {
    fn into_value(self) -> Value {
        self.clone().into_value()
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, IntoValue::into_value)
    }
}

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Self, Value> {
        Ok(value)
    }
}

impl FromValue for bool {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Bool(flag) => Ok(flag),
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            other => Err(other),
        }
    }
}

macro_rules! from_integer {
    ($($ty:ty),*) => {$(
        impl FromValue for $ty {
            fn from_value(value: Value) -> Result<Self, Value> {
                match value {
                    Value::Integer(number) => number.try_into().map_err(|_| Value::Integer(number)),
                    other => Err(other),
                }
            }
        }
    )*};
}

from_integer!(i8, i16, i32, i64, u8, u16, u32, u64);

impl FromValue for f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a column of reals may hold whole numbers"
    )]
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Real(number) => Ok(number),
            Value::Integer(number) => Ok(number as Self),
            other => Err(other),
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(other),
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Blob(bytes) => Ok(bytes),
            other => Err(other),
        }
    }
}

impl FromValue for Decimal {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Decimal(number) => Ok(number),
            Value::Integer(number) => Ok(number.into()),
            Value::Text(text) => text.parse().map_err(|_| Value::Text(text)),
            other => Err(other),
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// One column of a row.
fn column<T: FromValue>(index: usize, value: Value) -> Result<T, TxError> {
    T::from_value(value).map_err(|value| {
        TxError::rows(format!(
            "column {} holds {value:?}, which is no {}",
            index + 1,
            std::any::type_name::<T>()
        ))
    })
}

fn width<const N: usize>(row: Row) -> Result<[Value; N], TxError> {
    row.try_into().map_err(|row: Row| {
        TxError::rows(format!(
            "the row has {} columns where {N} were expected",
            row.len()
        ))
    })
}

impl<T: FromValue> FromRow for T {
    fn from_row(row: Row) -> Result<Self, TxError> {
        let [value] = width(row)?;
        column(0, value)
    }
}

impl Params for () {
    fn into_values(self) -> Vec<Value> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt),+) => {
        impl<$($name: IntoValue + Send),+> Params for ($($name,)+) {
            fn into_values(self) -> Vec<Value> {
                vec![$(self.$index.into_value()),+]
            }
        }

        impl<$($name: FromValue),+> FromRow for ($($name,)+) {
            fn from_row(row: Row) -> Result<Self, TxError> {
                let mut values = width::<{ [$($index),+].len() }>(row)?.into_iter();
                Ok(($(column::<$name>($index, values.next().expect("the width was checked"))?,)+))
            }
        }
    };
}

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
