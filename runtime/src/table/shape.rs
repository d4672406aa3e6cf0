//! What a table was declared as, kept in the store beside it, and what differs from what is declared now.

use projectionist::row::Column;
use projectionist::row::cell::SqlKind;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::ddl::Physical;

/// The declaration of one table, as it is stored. Fields are added, never changed: an earlier program reads what a later one wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    columns: Vec<ShapeColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ShapeColumn {
    name: String,
    kind: String,
    nullable: bool,
    key: bool,
}

/// What is to be done about a table that is there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Difference {
    None,
    /// Columns that may be `NULL` are new.
    Columns(Vec<String>),
    /// What cannot be changed under rows that are there, in words.
    Other(Vec<String>),
}

/// The stored name of a kind.
const fn kind(kind: SqlKind) -> &'static str {
    match kind {
        SqlKind::Bool => "bool",
        SqlKind::Integer => "integer",
        SqlKind::Real => "real",
        SqlKind::Text => "text",
        SqlKind::Uuid => "uuid",
        SqlKind::Timestamp => "timestamp",
        SqlKind::Date => "date",
        SqlKind::Decimal => "decimal",
        SqlKind::Json => "json",
        _ => unreachable!(),
    }
}

impl Shape {
    pub(super) fn of(table: &Physical) -> Self {
        let column = |column: &Column| ShapeColumn {
            name: column.name.to_owned(),
            kind: kind(column.kind).to_owned(),
            nullable: column.is_nullable,
            key: column.is_key,
        };
        Self {
            columns: table.columns.iter().map(column).collect(),
        }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("texts and flags are JSON")
    }

    /// A short text by which people compare.
    pub(super) fn fingerprint(&self) -> String {
        let hash = Sha256::digest(self.json().as_bytes());
        let digits: Vec<_> = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    }

    /// What has changed from `self` to `now`. The order of columns means nothing.
    pub(super) fn to(&self, now: &Self) -> Difference {
        let mut added = Vec::new();
        let mut other = Vec::new();
        for column in &now.columns {
            let name = &column.name;
            match self.columns.iter().find(|before| before.name == *name) {
                None if column.nullable && !column.key => added.push(name.clone()),
                None => other.push(format!("column `{name}` is new and cannot be `NULL`")),
                Some(before) => {
                    if before.kind != column.kind {
                        other.push(format!(
                            "column `{name}` was {} and is {}",
                            before.kind, column.kind
                        ));
                    }
                    if before.nullable != column.nullable {
                        let now = if column.nullable { "can" } else { "cannot" };
                        other.push(format!("column `{name}` {now} be `NULL` now"));
                    }
                    if before.key != column.key {
                        let now = if column.key { "is" } else { "is not" };
                        other.push(format!("column `{name}` {now} a part of the key now"));
                    }
                }
            }
        }
        for before in &self.columns {
            if !now.columns.iter().any(|column| column.name == before.name) {
                other.push(format!("column `{}` is gone", before.name));
            }
        }
        match (added.is_empty(), other.is_empty()) {
            (_, false) => Difference::Other(other),
            (false, true) => Difference::Columns(added),
            (true, true) => Difference::None,
        }
    }
}
