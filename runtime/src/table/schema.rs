//! Makes a projection's tables, adds what may be added, and refuses the rest.
//!
//! What each table was declared as stands beside it in the store. A change that rows which are there cannot follow is
//! an error that says what it is, and nothing is touched.

use projectionist::row::Table;
use projectionist::sql::Value;

use super::ddl::{self, Physical, column, create};
use super::dialect::{Dialect, quoted};
use super::shape::{Difference, Shape};
use crate::store::{Store, StoreError};

/// The store's own table of declarations.
const TABLES: &str = "projectionist_tables";

/// What stands in the store of a projection's tables.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The DDL that is to be run, with what it records. Empty: nothing is to be done.
    pub(crate) script: String,
    /// What it does, for people.
    pub(crate) steps: Vec<String>,
    /// What stands in the way.
    pub(crate) obstacles: Vec<String>,
    /// Each table with its fingerprint.
    pub(crate) fingerprints: Vec<(&'static str, String)>,
}

#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
impl Found {
    /// What is found where there is no store yet.
    pub(crate) fn new_tables(table: &Table) -> Self {
        let mut found = Self::default();
        for table in ddl::tables(table) {
            let shape = Shape::of(&table);
            found.fingerprints.push((table.name, shape.fingerprint()));
            found.steps.push(format!("make table `{}`", table.name));
        }
        found
    }
}

/// Compares what stands in the store with what is declared.
pub(crate) async fn inspect(
    store: &dyn Store,
    projection: &str,
    table: &Table,
    dialect: Dialect,
) -> Result<Found, StoreError> {
    let mut found = Found::default();
    let recorded = if exists(store, TABLES, dialect).await? {
        records(store).await?
    } else {
        Vec::new()
    };
    for table in ddl::tables(table) {
        let now = Shape::of(&table);
        found.fingerprints.push((table.name, now.fingerprint()));
        let record = recorded.iter().find(|record| record.table == table.name);
        let script = match record {
            None if exists(store, table.name, dialect).await? => {
                found.obstacles.push(format!(
                    "table `{}` is there already, and no projection made it",
                    table.name
                ));
                continue;
            }
            None => {
                found.steps.push(format!("make table `{}`", table.name));
                create(&table, dialect)
            }
            Some(record) if record.projection != projection => {
                found.obstacles.push(format!(
                    "table `{}` belongs to projection `{}`",
                    table.name, record.projection
                ));
                continue;
            }
            Some(record) => match difference(record, &now) {
                Difference::None => continue,
                Difference::Columns(names) => {
                    found.steps.push(format!(
                        "add to table `{}`: {}",
                        table.name,
                        names.join(", ")
                    ));
                    add(&table, &names, dialect)
                }
                Difference::Other(changes) => {
                    let told = changes
                        .into_iter()
                        .map(|change| format!("table `{}`: {change}", table.name));
                    found.obstacles.extend(told);
                    continue;
                }
            },
        };
        found.script.push_str(&script);
        found.script.push_str(&record_of(projection, &table, &now));
    }
    if !found.script.is_empty() {
        found.script.insert_str(
            0,
            &format!(
                "create table if not exists {TABLES} (name text primary key, projection text not null, shape text not null);\n"
            ),
        );
    }
    Ok(found)
}

/// Makes and changes what `inspect` found, in one transaction.
pub(crate) async fn apply(
    store: &dyn Store,
    projection: &str,
    found: &Found,
) -> Result<(), StoreError> {
    if found.script.is_empty() {
        return Ok(());
    }
    let of = format!("projection `{projection}`");
    store.define(&of, &found.script).await
}

struct Record {
    table: String,
    projection: String,
    shape: String,
}

async fn records(store: &dyn Store) -> Result<Vec<Record>, StoreError> {
    let rows = store
        .query("select name, projection, shape from projectionist_tables")
        .await?
        .rows;
    let text = |value: Option<&Value>| match value {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    Ok(rows
        .iter()
        .map(|row| Record {
            table: text(row.first()),
            projection: text(row.get(1)),
            shape: text(row.get(2)),
        })
        .collect())
}

fn difference(record: &Record, now: &Shape) -> Difference {
    match serde_json::from_str::<Shape>(&record.shape) {
        Ok(before) => before.to(now),
        Err(error) => Difference::Other(vec![format!("what it was is not known: {error}")]),
    }
}

async fn exists(store: &dyn Store, table: &str, dialect: Dialect) -> Result<bool, StoreError> {
    let name = table.replace('\'', "''");
    let sql = match dialect {
        // SQLite's names are the same in whichever case.
        Dialect::Sqlite => {
            format!("select 1 from sqlite_schema where name = '{name}' collate nocase")
        }
        Dialect::Postgres => format!(
            "select 1 from pg_catalog.pg_class where relname = '{name}' and relnamespace = current_schema()::regnamespace"
        ),
    };
    Ok(!store.query(&sql).await?.rows.is_empty())
}

fn add(table: &Physical, names: &[String], dialect: Dialect) -> String {
    let new = table
        .columns
        .iter()
        .filter(|column| names.iter().any(|name| name == column.name));
    let alterations: Vec<_> = new
        .map(|new| {
            let (table, column) = (quoted(table.name), column(new, dialect));
            format!("alter table {table} add column {column};\n")
        })
        .collect();
    alterations.concat()
}

fn record_of(projection: &str, table: &Physical, shape: &Shape) -> String {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    format!(
        "insert into {TABLES} (name, projection, shape) values ({}, {}, {}) on conflict (name) do update set shape = excluded.shape;\n",
        literal(table.name),
        literal(projection),
        literal(&shape.json())
    )
}
