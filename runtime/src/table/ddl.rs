//! The DDL of a row projection's tables.

use std::fmt::Write as _;

use projectionist::row::cell::SqlKind;
use projectionist::row::{Child, Column, ID_COLUMN, KEY_COLUMN, POSITION_COLUMN, Table};

use super::dialect::{Dialect, quoted};

/// A table as it stands in the database.
pub(super) struct Physical {
    pub(super) name: &'static str,
    /// Without the hidden ones.
    pub(super) columns: Vec<Column>,
    /// Whether it is a child.
    pub(super) is_child: bool,
}

/// The tables of a projection, the parent first.
pub(super) fn tables(table: &Table) -> Vec<Physical> {
    let parent = Physical {
        name: table.name,
        columns: table.columns.to_vec(),
        is_child: false,
    };
    let children = table.children.iter().map(|child| Physical {
        name: child.name,
        columns: child_columns(table, child),
        is_child: true,
    });
    std::iter::once(parent).chain(children).collect()
}

/// The key of the parent, the child's own or its position, and the rest.
fn child_columns(table: &Table, child: &Child) -> Vec<Column> {
    let position = Column {
        name: POSITION_COLUMN,
        kind: SqlKind::Integer,
        is_nullable: false,
        is_key: true,
    };
    let keys = table.columns.iter().filter(|column| column.is_key);
    keys.copied()
        .chain(child.has_position().then_some(position))
        .chain(child.columns.iter().copied())
        .collect()
}

/// A column's definition.
pub(super) fn column(column: &Column, dialect: Dialect) -> String {
    let null = if column.is_nullable { "" } else { " not null" };
    format!(
        "{} {}{null}",
        quoted(column.name),
        dialect.column(column.kind)
    )
}

/// What makes a table.
pub(super) fn create(table: &Physical, dialect: Dialect) -> String {
    let mut lines = vec![
        format!("{} text not null", quoted(KEY_COLUMN)),
        format!("{} text not null", quoted(ID_COLUMN)),
    ];
    lines.extend(table.columns.iter().map(|found| column(found, dialect)));
    let keys: Vec<_> = table
        .columns
        .iter()
        .filter(|column| column.is_key)
        .map(|column| quoted(column.name))
        .collect();
    lines.push(format!("primary key ({})", keys.join(", ")));
    let document = format!("({}, {})", quoted(KEY_COLUMN), quoted(ID_COLUMN));
    if !table.is_child {
        lines.push(format!("unique {document}"));
    }
    let name = quoted(table.name);
    let mut script = format!("create table {name} (\n    {}\n);\n", lines.join(",\n    "));
    if table.is_child {
        // PostgreSQL finds a name of its own, which fits.
        let index = match dialect {
            Dialect::Sqlite => format!("{} ", quoted(&format!("projectionist_{}", table.name))),
            Dialect::Postgres => String::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(script, "create index {index}on {name} {document};");
    }
    script
}

/// What makes all tables of a projection.
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
pub(crate) fn script(table: &Table, dialect: Dialect) -> String {
    let all = tables(table);
    all.iter().map(|table| create(table, dialect)).collect()
}
