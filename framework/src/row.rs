//! Row projections: a struct that *is* the read model's row, `#[projection(…, table = "…")]`.
//!
//! The attribute leaves a [`Table`], which says what the table is, and an implementation of [`Row`], which reads a document
//! in one pass and puts the row's cells into the columns of a page. P3: a row belongs to one document, which is partition
//! key *and* id; both stand in hidden columns, whatever the row's own key is.

pub mod cell;
pub mod decode;
pub mod page;

use serde::Deserializer;

use self::cell::{Cells, SqlKind};
use crate::change::Document;
use crate::filter::Literal;

/// The hidden column that holds the partition key of a row's document, as a JSON array.
pub const KEY_COLUMN: &str = "projectionist_key";
/// The hidden column that holds the id of a row's document.
pub const ID_COLUMN: &str = "projectionist_id";
/// The column that numbers a child's rows, from 0, where none of its columns is a key.
pub const POSITION_COLUMN: &str = "position";

/// A table, as `#[projection(…, table = "…")]` declares it.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in the order of the fields. One at least is a key.
    pub columns: &'static [Column],
    /// The tables of its arrays.
    pub children: &'static [Child],
    /// What a delete does to a row.
    pub on_delete: OnDelete,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, that of the field.
    pub name: &'static str,
    /// What it holds.
    pub kind: SqlKind,
    /// Whether it may be `NULL`.
    pub is_nullable: bool,
    /// Whether it is a part of the row's key.
    pub is_key: bool,
}

/// The table of an array: one row for each of its items.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its name.
    pub name: &'static str,
    /// Its own columns. Before them stand the key of the parent and, where none of these is a key, the position.
    pub columns: &'static [Column],
}

impl Child {
    /// Whether its rows are told apart by their place in the array.
    pub fn has_position(&self) -> bool {
        !self.columns.iter().any(|column| column.is_key)
    }
}

/// What a delete does to a row, and so does a document that no longer matches the filters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnDelete {
    /// `on_delete(remove)`: the row goes.
    Remove,
    /// `on_delete(set(…))`: the row stays, and these columns become these values.
    Set(&'static [(&'static str, Literal)]),
}

/// A row that is read from a document, or from an item of its arrays. Implemented by `#[projection(…, table = "…")]` and
/// by `#[derive(ProjectionRow)]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` isn't the row of a child table",
    note = "add `#[derive(ProjectionRow)]` to it"
)]
pub trait Row: Sized {
    /// Its columns, in the order of the fields.
    const COLUMNS: &'static [Column];

    /// Reads one.
    ///
    /// # Errors
    ///
    /// Those of the deserializer, with the path of the field that is to blame.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// Adds its cells to the columns of its table, and those of its arrays to theirs.
    fn put(self, rows: &mut Rows);
}

/// Reads a document's row and adds it to the page's.
#[doc(hidden)]
pub fn put_row<R: Row>(document: &Document, rows: &mut Rows) -> Result<(), serde_json::Error> {
    document.row::<R>()?.put(rows);
    Ok(())
}

/// Whether no column of a child is named as a key of its parent, or as its own position.
#[doc(hidden)]
pub const fn are_apart(parent: &[Column], child: &[Column]) -> bool {
    let mut has_position = true;
    let mut i = 0;
    while i < child.len() {
        has_position &= !child[i].is_key;
        i += 1;
    }
    let mut i = 0;
    while i < child.len() {
        let name = child[i].name.as_bytes();
        if has_position && is_same(name, POSITION_COLUMN.as_bytes()) {
            return false;
        }
        let mut j = 0;
        while j < parent.len() {
            if parent[j].is_key && is_same(name, parent[j].name.as_bytes()) {
                return false;
            }
            j += 1;
        }
        i += 1;
    }
    let mut j = 0;
    while has_position && j < parent.len() {
        if parent[j].is_key && is_same(parent[j].name.as_bytes(), POSITION_COLUMN.as_bytes()) {
            return false;
        }
        j += 1;
    }
    true
}

/// Column names are compared as databases do where a name is not quoted: `Id` and `id` are one.
const fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Rows of one table, by columns, and the rows of its children.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: Vec<Cells>,
    len: usize,
    children: Vec<ChildRows>,
}

/// Rows of a child table.
#[derive(Clone, Debug, Default)]
pub struct ChildRows {
    /// The rows.
    pub rows: Rows,
    /// For each of them the place of its parent among its table's rows.
    pub parents: Vec<usize>,
    /// For each of them its place in the array.
    pub positions: Vec<i64>,
}

impl Rows {
    /// No rows yet of a table with these columns and children.
    pub fn new(columns: &[Column], children: &[Child]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|column| Cells::of(column.kind))
                .collect(),
            len: 0,
            children: children
                .iter()
                .map(|child| ChildRows {
                    rows: Self::new(child.columns, &[]),
                    ..ChildRows::default()
                })
                .collect(),
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The columns.
    pub fn columns(&self) -> &[Cells] {
        &self.columns
    }

    /// The rows of the child tables.
    pub fn children(&self) -> &[ChildRows] {
        &self.children
    }

    /// The cells of one column, for the row that is being put.
    #[doc(hidden)]
    pub fn column(&mut self, index: usize) -> &mut Cells {
        &mut self.columns[index]
    }

    /// All cells of a row are put.
    #[doc(hidden)]
    pub fn end(&mut self) {
        self.len += 1;
        debug_assert!(self.columns.iter().all(|cells| cells.len() == self.len));
    }

    /// Adds the items of an array of the row that is being put.
    #[doc(hidden)]
    pub fn each<R: Row>(&mut self, child: usize, items: Vec<R>) {
        let parent = self.len;
        let child = &mut self.children[child];
        for (position, item) in (0..).zip(items) {
            item.put(&mut child.rows);
            child.parents.push(parent);
            child.positions.push(position);
        }
    }
}
