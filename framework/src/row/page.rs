//! What a page of changes comes to in a table: the rows to write, and those whose documents are gone.
//!
//! Of each document the last word counts: within one commit nobody sees what was before it. Where the last version cannot
//! be read, it becomes a letter, and the version before it is what the table shows.

use std::collections::HashMap;

use serde::de::Error as _;

use super::{OnDelete, Rows, Table};
use crate::change::RawChange;
use crate::hook::Hooks;
use crate::page::{Filters, Undecodable};
use crate::projection::{DynProjection, Spec};

/// The rows of a page.
#[derive(Debug, Default)]
pub struct RowPage {
    /// The rows to write.
    pub rows: Rows,
    /// For each of them its change, by its index in the page.
    pub written: Vec<usize>,
    /// The changes, by their index, whose documents are gone or match no more, in the feed's order: after the rows are
    /// written, theirs are what [`OnDelete`] says.
    pub deleted: Vec<usize>,
    /// Changes that are no rows, for the documents do not decode.
    pub undecodable: Vec<Undecodable>,
}

/// What a change means to its document's row.
#[derive(Clone, Copy, PartialEq)]
enum Word {
    Write,
    Delete,
}

impl RowPage {
    /// Reads the rows of a page.
    pub fn of(
        table: &'static Table,
        projection: &dyn DynProjection,
        spec: &'static Spec,
        hooks: &'static Hooks,
        changes: &[RawChange],
    ) -> Self {
        let mut page = Self {
            rows: Rows::new(table.columns, table.children),
            ..Self::default()
        };
        let filters = Filters::new(spec, hooks);
        // By document, in the order of their first changes: what each change says of it.
        let mut documents: Vec<Vec<(usize, Word)>> = Vec::with_capacity(changes.len());
        let mut places = HashMap::with_capacity(changes.len());
        for (index, change) in changes.iter().enumerate() {
            let word = match filters.row(change) {
                Ok(true) => Word::Write,
                Ok(false) => Word::Delete,
                Err(error) => {
                    page.refuse(index, error);
                    continue;
                }
            };
            let place = *places
                .entry((&change.partition_key, &change.id))
                .or_insert(documents.len());
            match documents.get_mut(place) {
                Some(words) => words.push((index, word)),
                None => documents.push(vec![(index, word)]),
            }
        }
        for words in documents {
            page.take(table, projection, changes, &words);
        }
        page.deleted.sort_unstable();
        page
    }

    /// Takes the last words on one document.
    fn take(
        &mut self,
        table: &Table,
        projection: &dyn DynProjection,
        changes: &[RawChange],
        words: &[(usize, Word)],
    ) {
        for (index, word) in words.iter().rev() {
            match word {
                Word::Delete => {
                    self.deleted.push(*index);
                    if table.on_delete == OnDelete::Remove {
                        return;
                    }
                }
                Word::Write => {
                    let document = changes[*index].current.as_ref();
                    match document.map(|document| projection.put_row(document, &mut self.rows)) {
                        Some(Ok(())) => {
                            self.written.push(*index);
                            return;
                        }
                        Some(Err(error)) => self.refuse(*index, error),
                        None => self.refuse(
                            *index,
                            serde_json::Error::custom("the change carries no document"),
                        ),
                    }
                }
            }
        }
    }

    fn refuse(&mut self, index: usize, error: serde_json::Error) {
        self.undecodable.push(Undecodable {
            index,
            hook: "",
            error: error.into(),
        });
    }
}
