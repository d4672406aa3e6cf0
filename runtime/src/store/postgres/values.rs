//! Values on their way to PostgreSQL and back.
//!
//! What the portable values have no form for (moments, days, UUIDs, JSON) is read as text.

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use projectionist::extract::tx::{TxError, TxErrorClass};
use projectionist::row::cell::SqlKind;
use projectionist::sql::{Row, Value};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgRow, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{
    Arguments as _, Decode, Encode, Postgres, Row as _, Type, TypeInfo as _, ValueRef as _,
};

use crate::store::rows::signed;
use crate::store::{Advance, Group};

/// `NULL` of whatever type the statement wants.
struct Null;

impl Type<Postgres> for Null {
    fn type_info() -> PgTypeInfo {
        // Not said: the server infers it.
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl Encode<'_, Postgres> for Null {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

/// The parameters of a statement.
pub(super) fn arguments(params: Vec<Value>) -> Result<PgArguments, TxError> {
    let mut arguments = PgArguments::default();
    for param in params {
        let added = match param {
            Value::Null => arguments.add(Null),
            Value::Bool(value) => arguments.add(value),
            Value::Integer(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Blob(value) => arguments.add(value),
            Value::Decimal(value) => arguments.add(value),
            _ => Err("this store does not know that kind of value".into()),
        };
        added.map_err(|error| TxError::new(TxErrorClass::Statement, error))?;
    }
    Ok(arguments)
}

/// The parameters of a statement that writes a page of rows and advances its checkpoint.
pub(super) fn once(groups: Vec<Group<'_>>, advance: &Advance) -> Result<PgArguments, TxError> {
    let mut arguments = PgArguments::default();
    let Advance {
        lease,
        epoch,
        version,
        position,
        at,
    } = advance;
    let head = [
        arguments.add(lease.as_str()),
        arguments.add(signed(*epoch)),
        arguments.add(signed(*version)),
        arguments.add(position.as_str()),
        arguments.add(at.to_string()),
    ];
    for added in head {
        added.map_err(|error| TxError::new(TxErrorClass::Statement, error))?;
    }
    for Group { kinds, tuples } in groups {
        add_arrays(&mut arguments, kinds, tuples)?;
    }
    Ok(arguments)
}

/// Tuples, one after the other, as an array for each of their places.
pub(super) fn arrays(kinds: &[SqlKind], tuples: Vec<Value>) -> Result<PgArguments, TxError> {
    let mut arguments = PgArguments::default();
    add_arrays(&mut arguments, kinds, tuples)?;
    Ok(arguments)
}

fn add_arrays(
    arguments: &mut PgArguments,
    kinds: &[SqlKind],
    tuples: Vec<Value>,
) -> Result<(), TxError> {
    enum Array {
        Bool(Vec<Option<bool>>),
        Integer(Vec<Option<i64>>),
        Real(Vec<Option<f64>>),
        Text(Vec<Option<String>>),
    }

    let count = tuples.len() / kinds.len();
    let mut arrays: Vec<Array> = kinds
        .iter()
        .map(|kind| match kind {
            SqlKind::Bool => Array::Bool(Vec::with_capacity(count)),
            SqlKind::Integer => Array::Integer(Vec::with_capacity(count)),
            SqlKind::Real => Array::Real(Vec::with_capacity(count)),
            _ => Array::Text(Vec::with_capacity(count)),
        })
        .collect();
    for (index, value) in tuples.into_iter().enumerate() {
        let place = index % kinds.len();
        match (&mut arrays[place], value) {
            (Array::Bool(all), Value::Null) => all.push(None),
            (Array::Bool(all), Value::Bool(value)) => all.push(Some(value)),
            (Array::Integer(all), Value::Null) => all.push(None),
            (Array::Integer(all), Value::Integer(value)) => all.push(Some(value)),
            (Array::Real(all), Value::Null) => all.push(None),
            (Array::Real(all), Value::Real(value)) => all.push(Some(value)),
            (Array::Text(all), Value::Null) => all.push(None),
            (Array::Text(all), Value::Text(value)) => all.push(Some(value)),
            (_, value) => {
                return Err(TxError::new(
                    TxErrorClass::Statement,
                    format!("{value:?} is no value of column {place}"),
                ));
            }
        }
    }
    for array in arrays {
        let added = match array {
            Array::Bool(all) => arguments.add(all),
            Array::Integer(all) => arguments.add(all),
            Array::Real(all) => arguments.add(all),
            Array::Text(all) => arguments.add(all),
        };
        added.map_err(|error| TxError::new(TxErrorClass::Statement, error))?;
    }
    Ok(())
}

/// Whether a statement begins or ends a transaction, by its first words. There is no asking the server to refuse it, and
/// what it commits is committed.
pub(super) fn ends_transaction(sql: &str) -> bool {
    let mut rest = sql.trim_start();
    // Comments may come first.
    while let Some((_, after)) = match rest.get(..2) {
        Some("--") => rest.split_once('\n'),
        Some("/*") => rest.split_once("*/"),
        _ => None,
    } {
        rest = after.trim_start();
    }
    let words: Vec<_> = rest
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .take(3)
        .map(str::to_ascii_lowercase)
        .collect();
    match words.first().map(String::as_str) {
        Some("commit" | "end" | "abort" | "begin" | "start") => true,
        Some("prepare") => words.get(1).is_some_and(|word| word == "transaction"),
        Some("rollback") => !words.iter().any(|word| word == "to"),
        _ => false,
    }
}

/// The columns of a row, from left to right.
pub(super) fn row(row: &PgRow) -> Result<Row, sqlx::Error> {
    (0..row.len())
        .map(|index| {
            cell(row.try_get_raw(index)?).map_err(|source| sqlx::Error::ColumnDecode {
                index: index.to_string(),
                source,
            })
        })
        .collect()
}

fn cell(value: PgValueRef<'_>) -> Result<Value, BoxDynError> {
    fn get<'r, T: Decode<'r, Postgres>>(value: PgValueRef<'r>) -> Result<T, BoxDynError> {
        T::decode(value)
    }
    if value.is_null() {
        return Ok(Value::Null);
    }
    let kind = value.type_info().name().to_uppercase();
    Ok(match kind.as_str() {
        "BOOL" => Value::Bool(get(value)?),
        "INT2" => Value::Integer(get::<i16>(value)?.into()),
        "INT4" => Value::Integer(get::<i32>(value)?.into()),
        "INT8" => Value::Integer(get(value)?),
        "FLOAT4" => Value::Real(get::<f32>(value)?.into()),
        "FLOAT8" => Value::Real(get(value)?),
        "NUMERIC" => Value::Decimal(get(value)?),
        "BYTEA" => Value::Blob(get(value)?),
        "TEXT" | "VARCHAR" | "NAME" | "BPCHAR" | "CHAR" | "UNKNOWN" | "CITEXT" => {
            Value::Text(get(value)?)
        }
        "VOID" => Value::Null,
        kind => Value::Text(text(kind, &value)?),
    })
}

/// What has a form of its own in PostgreSQL alone, as text.
fn text(kind: &str, value: &PgValueRef<'_>) -> Result<String, BoxDynError> {
    const MIDNIGHT_2000: i64 = 946_684_800;
    let bytes = value.as_bytes()?;
    if value.format() == PgValueFormat::Text {
        return Ok(String::from_utf8(bytes.to_vec())?);
    }
    Ok(match kind {
        "UUID" => uuid::Uuid::from_slice(bytes)?.to_string(),
        "TIMESTAMPTZ" | "TIMESTAMP" => {
            let microseconds = i64::from_be_bytes(bytes.try_into()?);
            let since = SignedDuration::from_micros(microseconds);
            let time = Timestamp::from_second(MIDNIGHT_2000)?.checked_add(since)?;
            time.to_string()
        }
        "DATE" => {
            let days = i32::from_be_bytes(bytes.try_into()?);
            Date::new(2000, 1, 1)?.checked_add(days.days())?.to_string()
        }
        "JSON" => String::from_utf8(bytes.to_vec())?,
        // One byte of version before the text.
        "JSONB" => String::from_utf8(bytes.get(1..).unwrap_or_default().to_vec())?,
        kind => {
            return Err(format!(
                "a column of type {} cannot be read: cast it, `column::text`",
                kind.to_lowercase()
            )
            .into());
        }
    })
}
