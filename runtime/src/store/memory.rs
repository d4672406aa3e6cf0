//! A store in this process only: for tests and benches.
//!
//! It has no SQL. A transaction's writes stand aside until the commit, which checks epoch and version
//! under the one lock that also guards the rows (P6): dropped, it leaves nothing behind.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::extract::tx::{Transaction, TxError, TxErrorClass};
use projectionist::sql::{Row, Value};

use super::{Advance, Checkpoint, CommitError, Effects, NewCheckpoint, Store, StoreError, Table};
use crate::letters::{Letter, LetterFilter, LetterStatus, NewLetter};
use crate::position::LeaseId;

/// A store in memory. Clones share their rows.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Rows>>);

#[derive(Debug, Default)]
struct Rows {
    checkpoints: BTreeMap<LeaseId, Checkpoint>,
    letters: Vec<Letter>,
    /// What effects wrote: how often each name was counted.
    counts: BTreeMap<String, i64>,
}

/// What a transaction will write when it commits.
#[derive(Debug, Default)]
pub struct MemoryTx {
    letters: Vec<NewLetter>,
    counts: Vec<(String, i64)>,
}

#[derive(Debug)]
struct MemoryEffects {
    store: MemoryStore,
    tx: MemoryTx,
}

impl MemoryTx {
    /// An effect that is wrong when it is lost or doubled: adds to a counter.
    pub fn count(&mut self, name: &str, by: i64) {
        self.counts.push((name.to_owned(), by));
    }
}

impl MemoryStore {
    /// A counter that effects added to.
    pub fn counted(&self, name: &str) -> i64 {
        self.rows().counts.get(name).copied().unwrap_or(0)
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn database(&self) -> &'static str {
        "memory"
    }

    fn define<'a>(&'a self, of: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            Err(StoreError::Define {
                of: of.to_owned(),
                source: NO_SQL.into(),
            })
        })
    }

    fn checkpoints(&self) -> BoxFuture<'_, Result<Vec<Checkpoint>, StoreError>> {
        let mut all: Vec<_> = self.rows().checkpoints.values().cloned().collect();
        all.sort_by(|a, b| {
            let key = |checkpoint: &Checkpoint| {
                let id = checkpoint.projection.clone();
                (
                    id.name,
                    id.collection,
                    id.generation,
                    checkpoint.bounds.clone(),
                )
            };
            key(a).cmp(&key(b))
        });
        Box::pin(async { Ok(all) })
    }

    fn create<'a>(
        &'a self,
        new: &'a NewCheckpoint,
    ) -> BoxFuture<'a, Result<Checkpoint, StoreError>> {
        let lease = new.projection.lease(&new.bounds);
        let row = self
            .rows()
            .checkpoints
            .entry(lease.clone())
            .or_insert_with(|| Checkpoint {
                lease,
                projection: new.projection.clone(),
                rid: new.rid.clone(),
                bounds: new.bounds.clone(),
                mode: new.mode,
                epoch: 0,
                version: 0,
                start: new.start.clone(),
                position: new.position.clone(),
                changed_at: new.at,
            })
            .clone();
        Box::pin(async { Ok(row) })
    }

    fn take<'a>(
        &'a self,
        lease: &'a LeaseId,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, StoreError>> {
        let row = self.rows().checkpoints.get_mut(lease).map(|row| {
            row.epoch += 1;
            row.changed_at = at;
            row.clone()
        });
        Box::pin(async { Ok(row) })
    }

    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn Effects>, StoreError>> {
        let effects = MemoryEffects {
            store: self.clone(),
            tx: MemoryTx::default(),
        };
        Box::pin(async { Ok(Box::new(effects) as Box<dyn Effects>) })
    }

    fn letters<'a>(
        &'a self,
        filter: &'a LetterFilter,
    ) -> BoxFuture<'a, Result<Vec<Letter>, StoreError>> {
        let limit = match filter.limit {
            0 => usize::MAX,
            limit => limit as usize,
        };
        let wanted = |letter: &&Letter| {
            let content = &letter.content;
            letter.id > filter.after
                && filter
                    .projection
                    .as_ref()
                    .is_none_or(|name| *name == content.projection.name)
                && filter
                    .document_id
                    .as_ref()
                    .is_none_or(|id| *id == content.document_id)
        };
        let rows = self.rows();
        let found: Vec<_> = rows
            .letters
            .iter()
            .filter(wanted)
            .take(limit)
            .cloned()
            .collect();
        Box::pin(async { Ok(found) })
    }

    fn letter(&self, id: i64) -> BoxFuture<'_, Result<Option<Letter>, StoreError>> {
        let found = self
            .rows()
            .letters
            .iter()
            .find(|letter| letter.id == id)
            .cloned();
        Box::pin(async { Ok(found) })
    }

    fn query<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Table, StoreError>> {
        Box::pin(async {
            Err(StoreError::Failed {
                store: "memory".to_owned(),
                source: NO_SQL.into(),
            })
        })
    }
}

const NO_SQL: &str = "the memory store has no SQL; set `store = \"sqlite\"`";

fn no_sql() -> TxError {
    TxError::new(TxErrorClass::Statement, NO_SQL)
}

impl Transaction for MemoryEffects {
    fn database(&self) -> &'static str {
        "memory"
    }

    fn execute<'t>(&'t mut self, _: &'t str, _: Vec<Value>) -> BoxFuture<'t, Result<u64, TxError>> {
        Box::pin(async { Err(no_sql()) })
    }

    fn fetch<'t>(
        &'t mut self,
        _: &'t str,
        _: Vec<Value>,
        _: usize,
    ) -> BoxFuture<'t, Result<Vec<Row>, TxError>> {
        Box::pin(async { Err(no_sql()) })
    }

    fn native(&mut self) -> &mut (dyn Any + Send) {
        &mut self.tx
    }
}

impl Effects for MemoryEffects {
    fn put<'t>(&'t mut self, letters: &'t [NewLetter]) -> BoxFuture<'t, Result<(), StoreError>> {
        self.tx.letters.extend_from_slice(letters);
        Box::pin(async { Ok(()) })
    }

    fn commit<'t>(self: Box<Self>, advance: &'t Advance) -> BoxFuture<'t, Result<(), CommitError>>
    where
        Self: 't,
    {
        Box::pin(async move {
            let mut rows = self.store.rows();
            // P6, I3: epoch and version are compared and everything is written under one lock.
            let row = rows
                .checkpoints
                .get_mut(&advance.lease)
                .filter(|row| row.epoch == advance.epoch && row.version == advance.version)
                .ok_or_else(|| CommitError::Fenced(advance.lease.clone()))?;
            row.version += 1;
            row.position = Some(advance.position.clone());
            row.changed_at = advance.at;
            for (name, by) in self.tx.counts {
                *rows.counts.entry(name).or_default() += by;
            }
            for content in self.tx.letters {
                rows.store_letter(content);
            }
            Ok(())
        })
    }

    fn rollback<'t>(self: Box<Self>) -> BoxFuture<'t, ()>
    where
        Self: 't,
    {
        Box::pin(async {})
    }
}

impl Rows {
    /// A change that has a letter keeps it.
    fn store_letter(&mut self, content: NewLetter) {
        let known = self.letters.iter().any(|letter| {
            letter.content.projection == content.projection && letter.content.key == content.key
        });
        if !known {
            self.letters.push(Letter {
                id: self.letters.last().map_or(0, |letter| letter.id) + 1,
                status: LetterStatus::Dead,
                last_failed_at: content.failed_at,
                content,
            });
        }
    }
}
