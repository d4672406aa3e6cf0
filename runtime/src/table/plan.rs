//! The statements that write a projection's rows, made once.

use projectionist::row::cell::SqlKind;
use projectionist::row::{Child, Column, ID_COLUMN, KEY_COLUMN, OnDelete, POSITION_COLUMN, Table};

use super::dialect::{Dialect, quoted};
use super::once::once;
use crate::store::{Bulk, Once};

/// The statements of a projection's tables.
#[derive(Debug)]
pub(crate) struct TablePlan {
    pub(crate) table: &'static Table,
    /// Document and cells, over the row that is there.
    pub(super) upsert: Bulk,
    /// By document.
    pub(super) remove: Bulk,
    /// By document: what a delete does to rows.
    pub(super) delete: Option<Bulk>,
    /// Whose row has this key.
    pub(super) holder: String,
    pub(super) children: Vec<ChildPlan>,
    /// All of a page and its checkpoint.
    pub(super) once: Option<Once>,
}

/// The statements of a child table.
#[derive(Debug)]
pub(super) struct ChildPlan {
    pub(super) child: &'static Child,
    /// Document, key of the parent, position if there is one, and cells.
    pub(super) insert: Bulk,
    /// By document.
    pub(super) remove: Bulk,
}

impl TablePlan {
    pub(crate) fn new(table: &'static Table, dialect: Dialect) -> Self {
        let name = quoted(table.name);
        let sets: Vec<_> = table
            .columns
            .iter()
            .map(|column| format!("{0} = excluded.{0}", quoted(column.name)))
            .collect();
        let over = format!(
            " on conflict ({}) do update set {}",
            hidden().join(", "),
            sets.join(", ")
        );
        let keys: Vec<_> = table
            .columns
            .iter()
            .filter(|column| column.is_key)
            .zip(1..)
            .map(|(column, number)| {
                let cast = dialect.cast(column.kind);
                format!("{} = ${number}{cast}", quoted(column.name))
            })
            .collect();
        let upsert = insert(&name, table.columns, &over, dialect);
        let children: Vec<_> = table
            .children
            .iter()
            .map(|child| ChildPlan::new(table, child, dialect))
            .collect();
        let inserts: Vec<_> = children
            .iter()
            .map(|plan| (plan.child.name, &plan.insert))
            .collect();
        Self {
            once: once(table, &upsert, &inserts, dialect),
            table,
            upsert,
            remove: by_document(&format!("delete from {name}"), dialect),
            delete: match table.on_delete {
                OnDelete::Remove => None,
                OnDelete::Set(columns) => {
                    let sets: Vec<_> = columns
                        .iter()
                        .map(|(column, value)| {
                            format!("{} = {}", quoted(column), dialect.literal(*value))
                        })
                        .collect();
                    let update = format!("update {name} set {}", sets.join(", "));
                    Some(by_document(&update, dialect))
                }
            },
            holder: format!(
                "select {} from {name} where {}",
                hidden().join(", "),
                keys.join(" and ")
            ),
            children,
        }
    }
}

#[cfg(test)]
impl TablePlan {
    pub(crate) const fn once(&self) -> Option<&Once> {
        self.once.as_ref()
    }
}

impl ChildPlan {
    fn new(table: &'static Table, child: &'static Child, dialect: Dialect) -> Self {
        let name = quoted(child.name);
        let position = Column {
            name: POSITION_COLUMN,
            kind: SqlKind::Integer,
            is_nullable: false,
            is_key: true,
        };
        let keys = table.columns.iter().filter(|column| column.is_key);
        let columns: Vec<Column> = keys
            .copied()
            .chain(child.has_position().then_some(position))
            .chain(child.columns.iter().copied())
            .collect();
        Self {
            child,
            insert: insert(&name, &columns, "", dialect),
            remove: by_document(&format!("delete from {name}"), dialect),
        }
    }
}

/// The columns of the document.
fn hidden() -> [String; 2] {
    [KEY_COLUMN, ID_COLUMN].map(quoted)
}

/// Inserts documents' rows.
fn insert(table: &str, columns: &[Column], after: &str, dialect: Dialect) -> Bulk {
    let names: Vec<_> = hidden()
        .into_iter()
        .chain(columns.iter().map(|column| quoted(column.name)))
        .collect();
    let kinds: Vec<_> = [SqlKind::Text; 2]
        .into_iter()
        .chain(columns.iter().map(|column| column.kind))
        .collect();
    let head = format!("insert into {table} ({})", names.join(", "));
    match dialect {
        Dialect::Sqlite => Bulk::portions(kinds, &format!("{head} values "), after),
        Dialect::Postgres => {
            let cells: Vec<_> = kinds
                .iter()
                .zip(1..)
                .map(|(kind, number)| format!("c{number}{}", dialect.cast(*kind)))
                .collect();
            let before = format!("{head} select {}", cells.join(", "));
            let from = unnest(&kinds, dialect, 1);
            Bulk::arrays(kinds, &before, &from, after)
        }
    }
}

/// A statement about the rows of some documents.
fn by_document(what: &str, dialect: Dialect) -> Bulk {
    let kinds = vec![SqlKind::Text; 2];
    let of = format!("{what} where ({}) in (", hidden().join(", "));
    match dialect {
        Dialect::Sqlite => Bulk::portions(kinds, &format!("{of}values "), ")"),
        Dialect::Postgres => {
            let from = unnest(&kinds, dialect, 1);
            Bulk::arrays(kinds, &format!("{of}select c1, c2"), &from, ")")
        }
    }
}

/// Columns that come as arrays, from that parameter on: `unnest($1::text[], …) as u (c1, …)`.
pub(super) fn unnest(kinds: &[SqlKind], dialect: Dialect, first: usize) -> String {
    let (mut arrays, mut names) = (Vec::new(), Vec::new());
    for (index, kind) in kinds.iter().enumerate() {
        arrays.push(format!("${}::{}[]", first + index, dialect.element(*kind)));
        names.push(format!("c{}", index + 1));
    }
    format!("unnest({}) as u ({})", arrays.join(", "), names.join(", "))
}
