//! Values on their way to SQLite and back.
//!
//! A cell is read by its own storage class, whatever its column was declared as.

use projectionist::extract::tx::{TxError, TxErrorClass};
use projectionist::sql::{Row, Value};
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteRow, SqliteValueRef};
use sqlx::{Arguments as _, Decode, Row as _, Sqlite, TypeInfo as _, ValueRef as _};

/// The parameters of a statement. A wrong number of them is an error here: the driver would bind NULL instead.
pub(crate) fn arguments(sql: &str, params: Vec<Value>) -> Result<SqliteArguments, TxError> {
    let wanted = placeholders(sql);
    if wanted != params.len() {
        return Err(TxError::new(
            TxErrorClass::Statement,
            format!(
                "the statement has {wanted} placeholders and was given {} parameters",
                params.len()
            ),
        ));
    }
    bound(params)
}

/// Parameters whose number is right.
pub(super) fn bound(params: impl IntoIterator<Item = Value>) -> Result<SqliteArguments, TxError> {
    let mut arguments = SqliteArguments::default();
    for param in params {
        let added = match param {
            Value::Null => arguments.add(None::<i64>),
            Value::Bool(value) => arguments.add(value),
            Value::Integer(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Blob(value) => arguments.add(value),
            // As written, trailing zeros included: SQLite has no exact numbers of its own.
            Value::Decimal(value) => arguments.add(value.to_string()),
            _ => Err("this store does not know that kind of value".into()),
        };
        added.map_err(|error| TxError::new(TxErrorClass::Statement, error))?;
    }
    Ok(arguments)
}

/// The columns of a row, from left to right.
pub(crate) fn row(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    (0..row.len())
        .map(|index| {
            cell(row.try_get_raw(index)?).map_err(|source| sqlx::Error::ColumnDecode {
                index: index.to_string(),
                source,
            })
        })
        .collect()
}

fn cell(value: SqliteValueRef<'_>) -> Result<Value, BoxDynError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let class = value.type_info().name().to_owned();
    Ok(match class.as_str() {
        "INTEGER" => Value::Integer(<i64 as Decode<'_, Sqlite>>::decode(value)?),
        "REAL" => Value::Real(<f64 as Decode<'_, Sqlite>>::decode(value)?),
        "TEXT" => Value::Text(<String as Decode<'_, Sqlite>>::decode(value)?),
        "BLOB" => Value::Blob(<Vec<u8> as Decode<'_, Sqlite>>::decode(value)?),
        class => return Err(format!("a cell of the unknown class {class}").into()),
    })
}

/// Whether a statement is of the kinds that change rows, by its first word.
pub(super) fn changes_rows(sql: &str) -> bool {
    let mut rest = sql.trim_start();
    // Comments may come first.
    while let Some(skipped) = match rest.get(..2) {
        Some("--") => rest.split_once('\n'),
        Some("/*") => rest.split_once("*/"),
        _ => None,
    } {
        rest = skipped.1.trim_start();
    }
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next();
    ["insert", "update", "delete", "replace", "with"]
        .iter()
        .any(|kind| word.is_some_and(|word| word.eq_ignore_ascii_case(kind)))
}

/// How many parameters a statement wants: the greatest `$n`, as SQLite counts.
fn placeholders(sql: &str) -> usize {
    let mut bytes = sql.bytes().peekable();
    let mut greatest = 0;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\'' | b'"' | b'`' => while bytes.next().is_some_and(|next| next != byte) {},
            b'[' => while bytes.next().is_some_and(|next| next != b']') {},
            b'-' if bytes.peek() == Some(&b'-') => {
                while bytes.next().is_some_and(|next| next != b'\n') {}
            }
            b'/' if bytes.peek() == Some(&b'*') => {
                bytes.next();
                while let Some(next) = bytes.next() {
                    if next == b'*' && bytes.peek() == Some(&b'/') {
                        bytes.next();
                        break;
                    }
                }
            }
            b'$' | b'?' => {
                let mut number = None;
                while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
                    let digit = usize::from(digit - b'0');
                    number = Some(
                        number
                            .unwrap_or(0_usize)
                            .saturating_mul(10)
                            .saturating_add(digit),
                    );
                }
                greatest = greatest.max(number.unwrap_or(greatest + 1));
            }
            // A dollar sign inside a name is part of it.
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                while bytes
                    .next_if(|next| {
                        next.is_ascii_alphanumeric() || matches!(next, b'_' | b'$' | 0x80..)
                    })
                    .is_some()
                {}
            }
            _ => {}
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::{changes_rows, placeholders};

    #[test]
    fn statements_that_change_rows_are_told_from_others() {
        for sql in [
            "insert into t values (1)",
            "  UPDATE t set n = 1",
            "-- why\n/* and\n how */ delete from t",
            "with x as (select 1) insert into t select * from x",
            "replace into t values (1)",
        ] {
            assert!(changes_rows(sql), "{sql}");
        }
        for sql in [
            "create table t (n)",
            "select 1",
            "",
            "-- insert",
            "updated",
            "ß",
            "/* insert",
        ] {
            assert!(!changes_rows(sql), "{sql}");
        }
    }

    #[test]
    fn placeholders_are_counted_where_they_are_some() {
        for (sql, wanted) in [
            ("select 1", 0),
            ("insert into t values ($1, $2, $1)", 2),
            ("insert into t values (?, ?)", 2),
            (
                "select '$3 it''s $4', \"$5\", `$6`, [$7] from t where a = $1",
                1,
            ),
            ("select 1 -- $2\n where $1", 1),
            ("select /* $2 * / ** */ $1", 1),
            ("select a$9 from t where ß$8 = $12", 12),
            ("select 'unended $1", 0),
        ] {
            assert_eq!(placeholders(sql), wanted, "{sql}");
        }
    }
}
