//! From SQL to Rust.

use std::any::type_name;

use bytestring::ByteString;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

use super::{FromRow, FromValue, Row, Value};
use crate::extract::tx::TxError;

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Self, Value> {
        Ok(value)
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

impl FromValue for bool {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Bool(flag) => Ok(flag),
            Value::Integer(0) => Ok(false),
            Value::Integer(1) => Ok(true),
            value => Err(value),
        }
    }
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Integer(number) => Ok(number),
            Value::Decimal(number) if number.is_integer() => number.to_i64().ok_or(value),
            value => Err(value),
        }
    }
}

macro_rules! smaller_integers {
    ($($ty:ty)*) => {$(
        impl FromValue for $ty {
            fn from_value(value: Value) -> Result<Self, Value> {
                let number = i64::from_value(value)?;
                Self::try_from(number).map_err(|_| Value::Integer(number))
            }
        }
    )*};
}

smaller_integers! { i8 i16 i32 u8 u16 u32 u64 }

impl FromValue for f64 {
    fn from_value(value: Value) -> Result<Self, Value> {
        // Beyond 2^53 not every whole number has a float.
        const EXACT: u64 = 1 << 53;
        match value {
            Value::Real(number) => Ok(number),
            Value::Integer(number) if number.unsigned_abs() <= EXACT =>
            {
                #[expect(clippy::cast_precision_loss, reason = "it is at most 2^53")]
                Ok(number as Self)
            }
            value => Err(value),
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Text(text) => Ok(text),
            value => Err(value),
        }
    }
}

impl FromValue for ByteString {
    fn from_value(value: Value) -> Result<Self, Value> {
        String::from_value(value).map(Into::into)
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value) -> Result<Self, Value> {
        match value {
            Value::Blob(bytes) => Ok(bytes),
            value => Err(value),
        }
    }
}

impl FromValue for Decimal {
    fn from_value(value: Value) -> Result<Self, Value> {
        let exact = match &value {
            Value::Decimal(number) => Some(*number),
            Value::Integer(number) => Some((*number).into()),
            Value::Text(text) => Self::from_str_exact(text).ok(),
            Value::Real(number) => exact_real(*number),
            _ => None,
        };
        exact.ok_or(value)
    }
}

/// The decimal that is `number` exactly: 2.5 has one, 0.1 (which is no tenth) has none.
fn exact_real(number: f64) -> Option<Decimal> {
    // A binary fraction has as many decimal places as binary ones, and a decimal holds 28.
    const PLACES: usize = 28;
    let is_exact = (number * f64::from(1_u32 << PLACES)).fract() == 0.0;
    let text = is_exact.then(|| format!("{number:.PLACES$}"))?;
    let text = text.trim_end_matches('0').trim_end_matches('.');
    Decimal::from_str_exact(text).ok()
}

impl<T: FromValue> FromRow for T {
    fn from_row(row: Row) -> Result<Self, TxError> {
        let [value] = columns(row)?;
        column(value, 0)
    }
}

/// The values of a row, if there are as many as asked for.
fn columns<const N: usize>(row: Row) -> Result<[Value; N], TxError> {
    row.try_into().map_err(|row: Row| {
        let found = row.len();
        TxError::rows(format!("{found} columns where {N} were expected"))
    })
}

fn column<T: FromValue>(value: Value, index: usize) -> Result<T, TxError> {
    T::from_value(value).map_err(|value| {
        let hint = match value {
            Value::Null => "; take an `Option`",
            Value::Real(_) => "; cast it in the query",
            _ => "",
        };
        let (found, wanted) = (value.kind(), type_name::<T>());
        TxError::rows(format!(
            "column {index} is {found} that does not fit `{wanted}`{hint}"
        ))
    })
}

macro_rules! from_row {
    ($count:literal: $($ty:ident $index:literal)*) => {
        impl<$($ty: FromValue),*> FromRow for ($($ty,)*) {
            fn from_row(row: Row) -> Result<Self, TxError> {
                #[expect(non_snake_case, reason = "named as the types are")]
                let [$($ty),*] = columns::<$count>(row)?;
                Ok(($(column($ty, $index)?,)*))
            }
        }
    };
}

from_row! { 1: A 0 }
from_row! { 2: A 0 B 1 }
from_row! { 3: A 0 B 1 C 2 }
from_row! { 4: A 0 B 1 C 2 D 3 }
from_row! { 5: A 0 B 1 C 2 D 3 E 4 }
from_row! { 6: A 0 B 1 C 2 D 3 E 4 F 5 }
from_row! { 7: A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
from_row! { 8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }
from_row! { 9: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 }
from_row! { 10: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 }
from_row! { 11: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 }
from_row! { 12: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 }
from_row! { 13: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 }
from_row! { 14: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 }
from_row! { 15: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14 }
from_row! { 16: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11 M 12 N 13 O 14 P 15 }

#[cfg(test)]
mod tests {
    use super::*;

    fn error<R: FromRow>(row: Row) -> String {
        R::from_row(row).err().unwrap().to_string()
    }

    #[test]
    fn one_column_needs_no_tuple() {
        assert_eq!(i64::from_row(vec![Value::Integer(7)]).unwrap(), 7);
        assert_eq!(<(i64,)>::from_row(vec![Value::Integer(7)]).unwrap(), (7,));
        assert_eq!(Option::<i64>::from_row(vec![Value::Null]).unwrap(), None);
    }

    #[test]
    fn several_columns_are_a_tuple() {
        let row = vec![Value::Text("ada".into()), Value::Integer(1200)];
        assert_eq!(
            <(String, i64)>::from_row(row).unwrap(),
            ("ada".into(), 1200)
        );
    }

    #[test]
    fn only_exact_conversions_are_made() {
        assert_eq!(
            u8::from_value(Value::Integer(256)),
            Err(Value::Integer(256))
        );
        assert_eq!(bool::from_value(Value::Integer(1)), Ok(true));
        assert_eq!(bool::from_value(Value::Integer(2)), Err(Value::Integer(2)));
        assert_eq!(f64::from_value(Value::Integer(3)), Ok(3.0));
        let far = Value::Integer(i64::MAX);
        assert_eq!(f64::from_value(far.clone()), Err(far));
        let sum = Value::Decimal(Decimal::new(500, 2));
        assert_eq!(i64::from_value(sum), Ok(5));
        let half = Value::Decimal(Decimal::new(550, 2));
        assert_eq!(i64::from_value(half.clone()), Err(half));
    }

    #[test]
    fn decimals_are_exact_or_an_error() {
        let exact = |value| Decimal::from_value(value).map(|number| number.to_string());
        assert_eq!(
            exact(Value::Text("21783966.3425".into())).unwrap(),
            "21783966.3425"
        );
        assert_eq!(exact(Value::Integer(-3)).unwrap(), "-3");
        assert_eq!(exact(Value::Real(2.5)).unwrap(), "2.5");
        assert_eq!(exact(Value::Real(-1200.0)).unwrap(), "-1200");
        assert_eq!(exact(Value::Real(0.0)).unwrap(), "0");
        assert_eq!(exact(Value::Real(0.1)), Err(Value::Real(0.1)));
        assert!(exact(Value::Real(f64::NAN)).is_err());
        assert!(exact(Value::Text("twelve".into())).is_err());
    }

    #[test]
    fn errors_name_the_column_and_what_was_found() {
        assert_eq!(
            error::<(String, i64)>(vec![Value::Text("ada".into()), Value::Text("x".into())]),
            "column 1 is text that does not fit `i64`"
        );
        assert_eq!(
            error::<i64>(vec![Value::Null]),
            "column 0 is NULL that does not fit `i64`; take an `Option`"
        );
        assert_eq!(
            error::<(i64, i64)>(vec![Value::Integer(1)]),
            "1 columns where 2 were expected"
        );
    }
}
