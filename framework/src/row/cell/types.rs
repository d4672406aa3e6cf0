//! The types that are columns of their own.

use std::fmt;
use std::marker::PhantomData;

use bytestring::ByteString;
use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use super::{Cell, Cells, SqlKind, put_json, put_text};

impl<T: Cell> Cell for Option<T> {
    const KIND: SqlKind = T::KIND;
    const IS_NULLABLE: bool = true;

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Present<T>(PhantomData<T>);

        impl<'de, T: Cell> Visitor<'de> for Present<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or null")
            }

            fn visit_unit<E>(self) -> Result<Option<T>, E> {
                Ok(None)
            }

            fn visit_none<E>(self) -> Result<Option<T>, E> {
                Ok(None)
            }

            fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Option<T>, D::Error> {
                T::read(value).map(Some)
            }
        }

        deserializer.deserialize_option(Present(PhantomData))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn put(self, cells: &mut Cells) {
        match self {
            Some(value) => value.put(cells),
            None => cells.null(),
        }
    }
}

/// Types that serde reads as they should be, with the cells that take them.
macro_rules! plain {
    ($($ty:ty => $cells:ident($value:ident => $cell:expr);)*) => {$(
        impl Cell for $ty {
            const KIND: SqlKind = SqlKind::$cells;

            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$ty>::deserialize(deserializer)
            }

            fn put(self, cells: &mut Cells) {
                let $value = self;
                if let Cells::$cells(cells) = cells {
                    cells.push(Some($cell));
                }
            }
        }
    )*};
}

plain! {
    bool => Bool(value => value);
    f32 => Real(value => f64::from(value));
    f64 => Real(value => value);
    String => Text(value => value);
}

impl Cell for ByteString {
    const KIND: SqlKind = SqlKind::Text;

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }

    fn put(self, cells: &mut Cells) {
        put_text(Some(self.to_string()), cells);
    }
}

/// A whole number. The service keeps all numbers as floats, so `3.0` is one.
struct Whole;

impl Visitor<'_> for Whole {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        i64::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() <= EXACT {
            Ok(number as i64)
        } else {
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Cell for $ty {
            const KIND: SqlKind = SqlKind::Integer;

            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let number = deserializer.deserialize_any(Whole)?;
                Self::try_from(number).map_err(|_| {
                    D::Error::invalid_value(
                        Unexpected::Signed(number),
                        &concat!("a number that fits `", stringify!($ty), "`"),
                    )
                })
            }

            fn put(self, cells: &mut Cells) {
                if let Cells::Integer(cells) = cells {
                    cells.push(Some(i64::from(self)));
                }
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32);

/// Reads a text that stands for something else.
struct Parsed<T> {
    expected: &'static str,
    parse: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

macro_rules! parsed {
    ($($ty:ty => $kind:ident, $expected:literal;)*) => {$(
        impl Cell for $ty {
            const KIND: SqlKind = SqlKind::$kind;

            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Parsed {
                    expected: $expected,
                    parse: |text| text.parse().ok(),
                })
            }

            fn put(self, cells: &mut Cells) {
                put_text(Some(self.to_string()), cells);
            }
        }
    )*};
}

parsed! {
    Uuid => Uuid, "a UUID";
    Date => Date, "a day such as `2026-01-31` (for another form there is `#[column(with = …)]`)";
}

/// A text by RFC 3339, or whole seconds since 1970, as `_ts` has them.
struct Moment;

impl Visitor<'_> for Moment {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a time such as `2026-01-31T12:00:00Z`, or seconds since 1970 (for another form there is `#[column(with = …)]`)",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        text.parse()
            .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Timestamp, E> {
        // Seconds of the year 5138, or milliseconds of 1973: that is not to be guessed.
        const MOST: u64 = 100_000_000_000;
        Timestamp::from_second(seconds)
            .ok()
            .filter(|_| seconds.unsigned_abs() < MOST)
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(seconds), &self))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Timestamp, E> {
        self.visit_i64(Whole.visit_u64(seconds)?)
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Timestamp, E> {
        self.visit_i64(Whole.visit_f64(seconds)?)
    }
}

impl Cell for Timestamp {
    const KIND: SqlKind = SqlKind::Timestamp;

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Moment)
    }

    fn put(self, cells: &mut Cells) {
        put_text(Some(self.to_string()), cells);
    }
}

/// The shortest decimal that is the JSON number, or a text that is a decimal.
struct Exact;

impl Visitor<'_> for Exact {
    type Value = Decimal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a decimal of up to 28 digits")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Decimal, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Decimal, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Decimal, E> {
        // Rust prints the shortest text that reads back as the same float, and never an exponent.
        Decimal::from_str_exact(&number.to_string())
            .map_err(|_| E::invalid_value(Unexpected::Float(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Decimal, E> {
        Decimal::from_str_exact(text).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl Cell for Decimal {
    const KIND: SqlKind = SqlKind::Decimal;

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Exact)
    }

    fn put(self, cells: &mut Cells) {
        put_text(Some(self.to_string()), cells);
    }
}

impl Cell for serde_json::Value {
    const KIND: SqlKind = SqlKind::Json;
    const IS_NULLABLE: bool = true;

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }

    fn absent() -> Option<Self> {
        Some(Self::Null)
    }

    fn put(self, cells: &mut Cells) {
        put_json(&self, cells);
    }
}
