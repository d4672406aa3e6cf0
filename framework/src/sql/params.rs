//! From Rust to SQL.

use bytestring::ByteString;
use rust_decimal::Decimal;

use super::{IntoValue, Params, Value};
use crate::key::{DocumentId, IdempotencyKey, PartitionKey};

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

macro_rules! into_value {
    ($($ty:ty => $self:ident $value:expr;)*) => {$(
        impl IntoValue for $ty {
            fn into_value($self) -> Value {
                $value
            }
        }
    )*};
}

into_value! {
    bool => self Value::Bool(self);
    i8 => self Value::Integer(self.into());
    i16 => self Value::Integer(self.into());
    i32 => self Value::Integer(self.into());
    i64 => self Value::Integer(self);
    u8 => self Value::Integer(self.into());
    u16 => self Value::Integer(self.into());
    u32 => self Value::Integer(self.into());
    f32 => self Value::Real(self.into());
    f64 => self Value::Real(self);
    &str => self Value::Text(self.to_owned());
    String => self Value::Text(self);
    ByteString => self Value::Text(self.to_string());
    DocumentId => self Value::Text(self.to_string());
    PartitionKey => self Value::Text(self.to_string());
    IdempotencyKey => self Value::Text(self.to_string());
    &[u8] => self Value::Blob(self.to_vec());
    Vec<u8> => self Value::Blob(self);
    Decimal => self Value::Decimal(self);
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, T::into_value)
    }
}

impl<T: IntoValue + Clone> IntoValue for &T {
    fn into_value(self) -> Value {
        self.clone().into_value()
    }
}

impl Params for () {
    fn into_values(self) -> Vec<Value> {
        Vec::new()
    }
}

/// For values that are known only at run time.
impl Params for Vec<Value> {
    fn into_values(self) -> Vec<Value> {
        self
    }
}

macro_rules! params {
    ($first:ident $($rest:ident)*) => {
        impl<$first: IntoValue + Send $(, $rest: IntoValue + Send)*> Params for ($first, $($rest,)*) {
            fn into_values(self) -> Vec<Value> {
                #[expect(non_snake_case, reason = "named as the types are")]
                let ($first, $($rest,)*) = self;
                vec![$first.into_value() $(, $rest.into_value())*]
            }
        }

        params! { $($rest)* }
    };
    () => {};
}

params! { A B C D E F G H I J K L M N O P }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_become_values_in_order() {
        let id = String::from("ada");
        let plan: Option<String> = None;
        let values = (&id, 7_u32, &plan, Some("x"), Decimal::new(125, 2)).into_values();
        assert_eq!(
            values,
            [
                Value::Text("ada".into()),
                Value::Integer(7),
                Value::Null,
                Value::Text("x".into()),
                Value::Decimal(Decimal::new(125, 2)),
            ]
        );
        assert_eq!(().into_values(), []);
        assert_eq!((&id,).into_values().len(), 1);
    }

    #[test]
    fn bytes_and_floats_and_truth() {
        let bytes: &[u8] = &[1, 2];
        assert_eq!(
            (bytes, vec![3_u8], 0.5_f32, true).into_values(),
            [
                Value::Blob(vec![1, 2]),
                Value::Blob(vec![3]),
                Value::Real(0.5),
                Value::Bool(true),
            ]
        );
    }
}
