//! The statements that write a projection's rows, made once.
//!
//! Rows are written many at once. A statement's text depends on their number, and a prepared statement on its text; so
//! rows go in portions of a few fixed sizes.

use projectionist::row::{Child, Column, ID_COLUMN, KEY_COLUMN, OnDelete, POSITION_COLUMN, Table};

use super::dialect::{Dialect, quoted};

/// The largest portion.
const LARGEST: usize = 128;

/// A statement with a list of tuples in it, in several sizes.
#[derive(Debug)]
pub(crate) struct Portions {
    /// With the number of tuples, the largest first.
    texts: Vec<(usize, String)>,
}

impl Portions {
    fn new(before: &str, casts: &[&str], after: &str, dialect: Dialect) -> Self {
        let mut texts = Vec::new();
        let mut size = LARGEST;
        while size > 0 {
            if size * casts.len() <= dialect.most_parameters() {
                let mut number = 0;
                let tuples: Vec<_> = (0..size)
                    .map(|_| {
                        let tuple: Vec<_> = casts
                            .iter()
                            .map(|cast| {
                                number += 1;
                                format!("${number}{cast}")
                            })
                            .collect();
                        format!("({})", tuple.join(", "))
                    })
                    .collect();
                texts.push((size, format!("{before}{}{after}", tuples.join(", "))));
            }
            size /= 2;
        }
        Self { texts }
    }

    /// The statements that take so many tuples together, each with the range of those that it takes.
    pub(super) fn over(
        &self,
        count: usize,
    ) -> impl Iterator<Item = (std::ops::Range<usize>, &str)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            let left = count - done;
            let (size, text) = self.texts.iter().find(|(size, _)| *size <= left)?;
            let start = done;
            done += size;
            Some((start..done, text.as_str()))
        })
    }
}

/// The statements of a projection's tables.
#[derive(Debug)]
pub(crate) struct TablePlan {
    pub(crate) table: &'static Table,
    /// Document and cells, over the row that is there.
    pub(super) upsert: Portions,
    /// By document.
    pub(super) remove: Portions,
    /// By document: what a delete does to rows.
    pub(super) delete: Option<Portions>,
    /// Whose row has this key.
    pub(super) holder: String,
    pub(super) children: Vec<ChildPlan>,
}

/// The statements of a child table.
#[derive(Debug)]
pub(super) struct ChildPlan {
    pub(super) child: &'static Child,
    /// Document, key of the parent, position if there is one, and cells.
    pub(super) insert: Portions,
    /// By document.
    pub(super) remove: Portions,
}

impl TablePlan {
    pub(crate) fn new(table: &'static Table, dialect: Dialect) -> Self {
        let name = quoted(table.name);
        let names: Vec<_> = hidden()
            .chain(table.columns.iter().map(|column| quoted(column.name)))
            .collect();
        let casts: Vec<_> = casts(table.columns.iter(), dialect);
        let sets: Vec<_> = table
            .columns
            .iter()
            .map(|column| format!("{0} = excluded.{0}", quoted(column.name)))
            .collect();
        let document = format!("({})", hidden().collect::<Vec<_>>().join(", "));
        let upsert = Portions::new(
            &format!("insert into {name} ({}) values ", names.join(", ")),
            &casts,
            &format!(" on conflict {document} do update set {}", sets.join(", ")),
            dialect,
        );
        let keys: Vec<_> = table
            .columns
            .iter()
            .filter(|column| column.is_key)
            .zip(1..)
            .map(|(column, number)| {
                format!(
                    "{} = ${number}{}",
                    quoted(column.name),
                    dialect.cast(column.kind)
                )
            })
            .collect();
        Self {
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
                "select {}, {} from {name} where {}",
                quoted(KEY_COLUMN),
                quoted(ID_COLUMN),
                keys.join(" and ")
            ),
            children: table
                .children
                .iter()
                .map(|child| ChildPlan::new(table, child, dialect))
                .collect(),
        }
    }
}

impl ChildPlan {
    fn new(table: &'static Table, child: &'static Child, dialect: Dialect) -> Self {
        let name = quoted(child.name);
        let keys = || table.columns.iter().filter(|column| column.is_key);
        let position = Column {
            name: POSITION_COLUMN,
            kind: projectionist::row::cell::SqlKind::Integer,
            is_nullable: false,
            is_key: true,
        };
        let columns: Vec<Column> = keys()
            .copied()
            .chain(child.has_position().then_some(position))
            .chain(child.columns.iter().copied())
            .collect();
        let names: Vec<_> = hidden()
            .chain(columns.iter().map(|column| quoted(column.name)))
            .collect();
        Self {
            child,
            insert: Portions::new(
                &format!("insert into {name} ({}) values ", names.join(", ")),
                &casts(columns.iter(), dialect),
                "",
                dialect,
            ),
            remove: by_document(&format!("delete from {name}"), dialect),
        }
    }
}

/// The columns of the document.
fn hidden() -> impl Iterator<Item = String> {
    [KEY_COLUMN, ID_COLUMN].into_iter().map(quoted)
}

/// The casts of the document's columns, and of these.
fn casts<'c>(columns: impl Iterator<Item = &'c Column>, dialect: Dialect) -> Vec<&'static str> {
    let document = dialect.cast(projectionist::row::cell::SqlKind::Text);
    [document, document]
        .into_iter()
        .chain(columns.map(|column| dialect.cast(column.kind)))
        .collect()
}

/// A statement about the rows of some documents.
fn by_document(what: &str, dialect: Dialect) -> Portions {
    let before = format!(
        "{what} where ({}) in (values ",
        hidden().collect::<Vec<_>>().join(", ")
    );
    Portions::new(&before, &casts([].iter(), dialect), ")", dialect)
}
