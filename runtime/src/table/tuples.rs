//! The values of a page's rows, one tuple after the other, as the statements of its tables take them.

use projectionist::change::RawChange;
use projectionist::row::Rows;
use projectionist::row::cell::Cells;
use projectionist::row::page::RowPage;
use projectionist::sql::Value;

use super::plan::{ChildPlan, TablePlan};

/// A page's rows.
#[derive(Clone, Copy)]
pub(super) struct Tuples<'p> {
    pub(super) plan: &'p TablePlan,
    pub(super) page: &'p RowPage,
    pub(super) changes: &'p [RawChange],
}

impl<'p> Tuples<'p> {
    /// The change that a row is of.
    pub(super) fn change(&self, row: usize) -> &'p RawChange {
        &self.changes[self.page.written[row]]
    }

    /// Documents and cells of these rows.
    pub(super) fn rows(&self, rows: &[usize]) -> Vec<Value> {
        let mut tuples = self.plan.upsert.tuples(rows.len());
        for row in rows {
            document(self.change(*row), &mut tuples);
            cells(&self.page.rows, *row, &mut tuples);
        }
        tuples
    }

    /// Documents, keys, positions and cells of the children of these rows, which are in order.
    pub(super) fn items(&self, index: usize, rows: &[usize]) -> Vec<Value> {
        let child = &self.page.rows.children()[index];
        let ChildPlan {
            child: table,
            insert,
            ..
        } = &self.plan.children[index];
        let items: Vec<usize> = (0..child.rows.len())
            .filter(|item| rows.binary_search(&child.parents[*item]).is_ok())
            .collect();
        let mut tuples = insert.tuples(items.len());
        for item in items {
            let parent = child.parents[item];
            document(self.change(parent), &mut tuples);
            self.key(parent, &mut tuples);
            if table.has_position() {
                tuples.push(Value::Integer(child.positions[item]));
            }
            cells(&child.rows, item, &mut tuples);
        }
        tuples
    }

    /// The key of a row.
    pub(super) fn key(&self, row: usize, values: &mut Vec<Value>) {
        let columns = self.page.rows.columns().iter().zip(self.plan.table.columns);
        for (column, _) in columns.filter(|(_, declared)| declared.is_key) {
            values.push(cell(column, row));
        }
    }
}

/// What names a document (P3).
pub(super) fn document(change: &RawChange, values: &mut Vec<Value>) {
    values.push(Value::Text(change.partition_key.to_string()));
    values.push(Value::Text(change.id.to_string()));
}

fn cells(rows: &Rows, row: usize, values: &mut Vec<Value>) {
    values.extend(rows.columns().iter().map(|cells| cell(cells, row)));
}

fn cell(cells: &Cells, row: usize) -> Value {
    match cells {
        Cells::Bool(cells) => cells[row].map_or(Value::Null, Value::Bool),
        Cells::Integer(cells) => cells[row].map_or(Value::Null, Value::Integer),
        Cells::Real(cells) => cells[row].map_or(Value::Null, Value::Real),
        Cells::Text(cells) => cells[row].clone().map_or(Value::Null, Value::Text),
        _ => unreachable!("the framework and the runtime have one version"),
    }
}
