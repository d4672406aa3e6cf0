//! Writes a page's rows.
//!
//! Fast where nothing clashes: some statements for the whole page. Where a row's key belongs to another document, the
//! page's rows are taken back and written one by one, without those that clash: these become letters, and what their
//! documents' rows were before stays.

use std::collections::BTreeMap;

use projectionist::change::RawChange;
use projectionist::extract::tx::{TxError, TxErrorClass};
use projectionist::row::page::RowPage;
use projectionist::sql::Value;

use super::plan::TablePlan;
use super::tuples::{Tuples, document};
use crate::store::{Bulk, Effects};

/// A row that could not be written.
#[derive(Debug)]
pub(crate) struct Clash {
    /// Its change, by its index in the page.
    pub(crate) index: usize,
    /// Why.
    pub(crate) reason: String,
}

/// Writes the rows of a page into its transaction.
///
/// # Errors
///
/// The database's, but for rows that clash.
pub(crate) async fn write(
    tx: &mut (dyn Effects + 'static),
    plan: &TablePlan,
    page: &RowPage,
    changes: &[RawChange],
) -> Result<Vec<Clash>, TxError> {
    let mut writing = Writing {
        tx,
        of: Tuples {
            plan,
            page,
            changes,
        },
    };
    // PostgreSQL's texts hold no zero character; a row of such a document never was.
    let is_zeroless = writing.tx.database() == "postgres";
    let is_named = |change: &RawChange| !is_zeroless || !change.id.contains('\0');
    let deleted: Vec<_> = page
        .deleted
        .iter()
        .map(|index| &changes[*index])
        .filter(|change| is_named(change))
        .collect();
    // The key of a row that goes may be another's in this very page.
    if plan.delete.is_none() {
        writing.remove(&deleted).await?;
    }
    writing.run("savepoint projectionist_rows").await?;
    let (named, nameless): (Vec<usize>, Vec<usize>) =
        (0..page.written.len()).partition(|row| is_named(writing.of.change(*row)));
    let mut left_out: BTreeMap<usize, String> = nameless
        .into_iter()
        .map(|row| {
            (
                row,
                "its id holds a zero character, and PostgreSQL none".to_owned(),
            )
        })
        .collect();
    match writing.together(&named).await {
        Ok(()) => {}
        Err(error) if is_of_rows(&error) => writing.apart(&mut left_out).await?,
        Err(error) => return Err(error),
    }
    writing.run("release projectionist_rows").await?;
    // A row that stays is set after it was written.
    if let Some(set) = &plan.delete {
        writing.documents(set, &deleted).await?;
    }
    Ok(left_out
        .into_iter()
        .map(|(row, reason)| Clash {
            index: page.written[row],
            reason,
        })
        .collect())
}

/// Whether an error is the fault of some rows, so that the others can be written without them.
fn is_of_rows(error: &TxError) -> bool {
    matches!(error.class(), TxErrorClass::Unique | TxErrorClass::Values)
}

struct Writing<'w> {
    tx: &'w mut (dyn Effects + 'static),
    of: Tuples<'w>,
}

impl<'w> Writing<'w> {
    async fn run(&mut self, sql: &str) -> Result<(), TxError> {
        self.tx.execute(sql, Vec::new()).await.map(drop)
    }

    /// Writes rows and their children, many at once.
    async fn together(&mut self, rows: &[usize]) -> Result<(), TxError> {
        let plan = self.of.plan;
        self.upsert(rows).await?;
        for index in 0..plan.children.len() {
            let documents: Vec<_> = rows.iter().map(|row| self.of.change(*row)).collect();
            self.documents(&plan.children[index].remove, &documents)
                .await?;
            self.insert(index, rows).await?;
        }
        Ok(())
    }

    async fn upsert(&mut self, rows: &[usize]) -> Result<(), TxError> {
        let tuples = self.of.rows(rows);
        self.tx.many(&self.of.plan.upsert, tuples).await
    }

    /// Inserts the children of rows.
    async fn insert(&mut self, index: usize, rows: &[usize]) -> Result<(), TxError> {
        let tuples = self.of.items(index, rows);
        self.tx
            .many(&self.of.plan.children[index].insert, tuples)
            .await
    }

    /// Runs a statement about documents.
    async fn documents(
        &mut self,
        statement: &'w Bulk,
        documents: &[&RawChange],
    ) -> Result<(), TxError> {
        let mut tuples = statement.tuples(documents.len());
        for change in documents {
            document(change, &mut tuples);
        }
        self.tx.many(statement, tuples).await
    }

    /// Removes the rows of documents, and their children.
    async fn remove(&mut self, documents: &[&RawChange]) -> Result<(), TxError> {
        let plan = self.of.plan;
        self.documents(&plan.remove, documents).await?;
        for child in &plan.children {
            self.documents(&child.remove, documents).await?;
        }
        Ok(())
    }

    /// Writes rows one by one, and leaves out those that clash with the row of another document. Whoever is left out keeps
    /// the row of before, with which others may clash in turn; so it begins anew until nobody new does.
    async fn apart(&mut self, left_out: &mut BTreeMap<usize, String>) -> Result<(), TxError> {
        loop {
            self.run("rollback to projectionist_rows").await?;
            let rows: Vec<usize> = (0..self.of.page.written.len())
                .filter(|row| !left_out.contains_key(row))
                .collect();
            // Keys may move between the page's own documents, in whatever order.
            let documents: Vec<_> = rows.iter().map(|row| self.of.change(*row)).collect();
            self.remove(&documents).await?;
            let before = left_out.len();
            for row in rows {
                if let Some(reason) = self.alone(row).await? {
                    left_out.insert(row, reason);
                }
            }
            if left_out.len() == before {
                return Ok(());
            }
        }
    }

    /// Writes one row. What it clashes with, if it does: then it is not written.
    async fn alone(&mut self, row: usize) -> Result<Option<String>, TxError> {
        self.run("savepoint projectionist_row").await?;
        let reason = match self.upsert(&[row]).await {
            Ok(()) => match self.children(row).await {
                Ok(()) => {
                    self.run("release projectionist_row").await?;
                    return Ok(None);
                }
                Err((child, error)) if error.class() == TxErrorClass::Unique => {
                    let child = self.of.plan.children[child].child;
                    format!(
                        "two items of one array have the same key in table `{}`",
                        child.name
                    )
                }
                Err((child, error)) if error.class() == TxErrorClass::Values => {
                    let child = self.of.plan.children[child].child;
                    format!("table `{}` cannot hold its items: {error}", child.name)
                }
                Err((_, error)) => return Err(error),
            },
            Err(error) if error.class() == TxErrorClass::Unique => {
                self.run("rollback to projectionist_row").await?;
                self.clash(row).await?
            }
            Err(error) if error.class() == TxErrorClass::Values => {
                let table = self.of.plan.table.name;
                format!("table `{table}` cannot hold its row: {error}")
            }
            Err(error) => return Err(error),
        };
        self.run("rollback to projectionist_row").await?;
        self.run("release projectionist_row").await?;
        Ok(Some(reason))
    }

    async fn children(&mut self, row: usize) -> Result<(), (usize, TxError)> {
        for index in 0..self.of.plan.children.len() {
            let inserted = self.insert(index, &[row]).await;
            inserted.map_err(|error| (index, error))?;
        }
        Ok(())
    }

    /// Names the document that has a row's key.
    async fn clash(&mut self, row: usize) -> Result<String, TxError> {
        let mut key = Vec::new();
        self.of.key(row, &mut key);
        let names: Vec<_> = self
            .of
            .plan
            .table
            .columns
            .iter()
            .filter(|column| column.is_key)
            .zip(&key)
            .map(|(column, value)| format!("{} = {}", column.name, text(value)))
            .collect();
        let names = names.join(", ");
        let found = self.tx.fetch(&self.of.plan.holder, key, 1).await?;
        let table = self.of.plan.table.name;
        Ok(match found.into_iter().next().as_deref() {
            Some([partition_key, id]) => format!(
                "the key ({names}) of table `{table}` belongs to document `{}` of partition key {}: two documents cannot have one row",
                text(id),
                text(partition_key)
            ),
            _ => format!(
                "the row of key ({names}) breaks a unique constraint of table `{table}` that is not the projection's own"
            ),
        })
    }
}

/// A value as people read it.
fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Decimal(number) => number.to_string(),
        _ => "NULL".to_owned(),
    }
}
