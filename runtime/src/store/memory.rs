//! The store in memory, with the fences and transactions of the others and no SQL: for tests and benches.
//!
//! A transaction keeps its writes to itself and puts them in, with the checkpoint, in one step under one lock (P6).

#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::extract::tx::{Transaction, TxError, TxErrorClass};
use projectionist::sql::{Row, Value};
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

use super::{
    Advance, Bulk, Checkpoint, CommitError, Effects, NewCheckpoint, Split, SplitError, Store,
    StoreError, Table,
};
use crate::letters::{Letter, LetterFilter, LetterStatus, NewLetter};
use crate::position::{LeaseId, ProjectionId};

/// [`Store::database`]'s name for it, and the store's in errors.
const DATABASE: &str = "memory";

/// What a statement is told.
const NO_SQL: &str = "the store in memory has no SQL: set `store = \"sqlite\"`";

/// The store in memory. Clones are the same store.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    data: Mutex<Data>,
    /// One transaction at a time, in the order of asking, so that each sees what the one before wrote.
    gate: Arc<Gate<()>>,
}

#[derive(Debug, Default)]
struct Data {
    checkpoints: HashMap<LeaseId, Checkpoint>,
    letters: Vec<Letter>,
    /// Which change of which projection has a letter.
    lettered: HashSet<(ProjectionId, String)>,
    values: BTreeMap<String, Value>,
}

impl Inner {
    fn data(&self) -> MutexGuard<'_, Data> {
        // Nothing under this lock can panic half-way.
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A committed value of the read model.
    pub fn value(&self, key: &str) -> Option<Value> {
        self.0.data().values.get(key).cloned()
    }

    /// All committed values.
    pub fn values(&self) -> BTreeMap<String, Value> {
        self.0.data().values.clone()
    }
}

/// An open transaction in memory: keys and values. [`Transaction::native`] lends it.
#[derive(Debug)]
pub struct MemoryTx {
    store: Arc<Inner>,
    /// Writes of this transaction; none: removed.
    writes: BTreeMap<String, Option<Value>>,
    letters: Vec<NewLetter>,
    gate: OwnedMutexGuard<()>,
}

impl MemoryTx {
    /// A value, as this transaction sees it.
    pub fn get(&self, key: &str) -> Option<Value> {
        match self.writes.get(key) {
            Some(written) => written.clone(),
            None => self.store.data().values.get(key).cloned(),
        }
    }

    /// Writes a value.
    pub fn set(&mut self, key: impl Into<String>, value: Value) {
        self.writes.insert(key.into(), Some(value));
    }

    /// Removes a value.
    pub fn remove(&mut self, key: impl Into<String>) {
        self.writes.insert(key.into(), None);
    }
}

fn no_sql() -> TxError {
    TxError::new(TxErrorClass::Statement, NO_SQL)
}

impl Transaction for MemoryTx {
    fn database(&self) -> &'static str {
        DATABASE
    }

    fn execute<'t>(
        &'t mut self,
        _sql: &'t str,
        _params: Vec<Value>,
    ) -> BoxFuture<'t, Result<u64, TxError>> {
        Box::pin(async { Err(no_sql()) })
    }

    fn fetch<'t>(
        &'t mut self,
        _sql: &'t str,
        _params: Vec<Value>,
        _limit: usize,
    ) -> BoxFuture<'t, Result<Vec<Row>, TxError>> {
        Box::pin(async { Err(no_sql()) })
    }

    fn native(&mut self) -> &mut (dyn Any + Send) {
        self
    }
}

impl Effects for MemoryTx {
    fn many<'t>(&'t mut self, _: &'t Bulk, _: Vec<Value>) -> BoxFuture<'t, Result<(), TxError>> {
        Box::pin(async {
            Err(TxError::new(
                TxErrorClass::Statement,
                "the store in memory has no SQL",
            ))
        })
    }

    fn put<'t>(&'t mut self, letters: &'t [NewLetter]) -> BoxFuture<'t, Result<(), StoreError>> {
        self.letters.extend_from_slice(letters);
        Box::pin(async { Ok(()) })
    }

    fn commit<'t>(self: Box<Self>, advance: &'t Advance) -> BoxFuture<'t, Result<(), CommitError>>
    where
        Self: 't,
    {
        Box::pin(async move {
            let Self {
                store,
                writes,
                letters,
                gate,
            } = *self;
            let committed = store.data().commit(advance, writes, letters);
            drop(gate);
            committed
        })
    }

    fn rollback<'t>(self: Box<Self>) -> BoxFuture<'t, ()>
    where
        Self: 't,
    {
        Box::pin(async move { drop(self) })
    }
}

impl Data {
    fn commit(
        &mut self,
        advance: &Advance,
        writes: BTreeMap<String, Option<Value>>,
        letters: Vec<NewLetter>,
    ) -> Result<(), CommitError> {
        let checkpoint = self
            .checkpoints
            .get_mut(&advance.lease)
            .filter(|row| row.epoch == advance.epoch && row.version == advance.version)
            .ok_or_else(|| CommitError::Fenced(advance.lease.clone()))?;
        checkpoint.version += 1;
        checkpoint.position = Some(advance.position.clone());
        checkpoint.changed_at = advance.at;
        for (key, value) in writes {
            match value {
                Some(value) => self.values.insert(key, value),
                None => self.values.remove(&key),
            };
        }
        for content in letters {
            self.put(content);
        }
        Ok(())
    }

    fn split(&mut self, split: &Split) -> Result<Vec<Checkpoint>, SplitError> {
        let parent = self
            .checkpoints
            .get(&split.lease)
            .filter(|row| row.epoch == split.epoch && row.version == split.version)
            .ok_or_else(|| SplitError::Fenced(split.lease.clone()))?;
        let children = split.divide(parent)?;
        self.checkpoints.remove(&split.lease);
        for child in &children {
            self.checkpoints.insert(child.lease.clone(), child.clone());
        }
        Ok(children)
    }

    fn put(&mut self, content: NewLetter) {
        let of = (content.projection.clone(), content.key.clone());
        if self.lettered.insert(of) {
            let id = i64::try_from(self.letters.len()).expect("fewer letters than 2^63") + 1;
            self.letters.push(Letter {
                id,
                status: LetterStatus::Dead,
                last_failed_at: content.failed_at,
                content,
            });
        }
    }
}

impl Store for MemoryStore {
    fn database(&self) -> &'static str {
        DATABASE
    }

    fn define<'a>(&'a self, of: &'a str, _ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            Err(StoreError::Define {
                of: of.to_owned(),
                source: NO_SQL.into(),
            })
        })
    }

    fn rehearse<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.define(of, ddl)
    }

    fn has_sql(&self) -> bool {
        false
    }

    fn checkpoints(&self) -> BoxFuture<'_, Result<Vec<Checkpoint>, StoreError>> {
        Box::pin(async {
            let mut checkpoints: Vec<_> = self.0.data().checkpoints.values().cloned().collect();
            checkpoints.sort_by(|a, b| order(a).cmp(&order(b)));
            Ok(checkpoints)
        })
    }

    fn create<'a>(
        &'a self,
        new: &'a NewCheckpoint,
    ) -> BoxFuture<'a, Result<Checkpoint, StoreError>> {
        Box::pin(async {
            let lease = new.projection.lease(&new.bounds);
            let mut data = self.0.data();
            let other = data.checkpoints.values().find(|row| {
                row.projection == new.projection
                    && row.lease != lease
                    && row.bounds.overlaps(&new.bounds)
            });
            if let Some(other) = other {
                return Err(StoreError::Overlap {
                    store: DATABASE.to_owned(),
                    bounds: new.bounds.clone(),
                    standing: other.bounds.clone(),
                });
            }
            let row = data
                .checkpoints
                .entry(lease)
                .or_insert_with_key(|lease| Checkpoint {
                    lease: lease.clone(),
                    projection: new.projection.clone(),
                    rid: new.rid.clone(),
                    bounds: new.bounds.clone(),
                    mode: new.mode,
                    epoch: 0,
                    version: 0,
                    start: new.start.clone(),
                    position: new.position.clone(),
                    changed_at: new.at,
                });
            Ok(row.clone())
        })
    }

    fn take<'a>(
        &'a self,
        lease: &'a LeaseId,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, StoreError>> {
        Box::pin(async move {
            let mut data = self.0.data();
            Ok(data.checkpoints.get_mut(lease).map(|row| {
                row.epoch += 1;
                row.changed_at = at;
                row.clone()
            }))
        })
    }

    fn split<'a>(&'a self, split: &'a Split) -> BoxFuture<'a, Result<Vec<Checkpoint>, SplitError>> {
        Box::pin(async move { self.0.data().split(split) })
    }

    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn Effects>, StoreError>> {
        Box::pin(async {
            let gate = Arc::clone(&self.0.gate).lock_owned().await;
            Ok(Box::new(MemoryTx {
                store: Arc::clone(&self.0),
                writes: BTreeMap::new(),
                letters: Vec::new(),
                gate,
            }) as Box<dyn Effects>)
        })
    }

    fn letters<'a>(
        &'a self,
        filter: &'a LetterFilter,
    ) -> BoxFuture<'a, Result<Vec<Letter>, StoreError>> {
        Box::pin(async {
            let LetterFilter {
                projection,
                document_id,
                after,
                limit,
            } = filter;
            let limit = match *limit {
                0 => usize::MAX,
                limit => limit as usize,
            };
            Ok(self
                .0
                .data()
                .letters
                .iter()
                .filter(|letter| letter.id > *after)
                .filter(|letter| {
                    let NewLetter {
                        projection: of,
                        document_id: id,
                        ..
                    } = &letter.content;
                    projection.as_ref().is_none_or(|name| *name == of.name)
                        && document_id.as_ref().is_none_or(|wanted| wanted == id)
                })
                .take(limit)
                .cloned()
                .collect())
        })
    }

    fn letter(&self, id: i64) -> BoxFuture<'_, Result<Option<Letter>, StoreError>> {
        Box::pin(async move {
            let data = self.0.data();
            Ok(data.letters.iter().find(|letter| letter.id == id).cloned())
        })
    }

    fn query<'a>(&'a self, _sql: &'a str) -> BoxFuture<'a, Result<Table, StoreError>> {
        Box::pin(async {
            Err(StoreError::Failed {
                store: DATABASE.to_owned(),
                source: NO_SQL.into(),
            })
        })
    }
}

/// As the other stores sort.
fn order(checkpoint: &Checkpoint) -> (&str, &str, &str, u32, &str, &str) {
    let Checkpoint {
        projection, bounds, ..
    } = checkpoint;
    (
        &projection.name,
        &projection.collection,
        &projection.tenant,
        projection.generation,
        &bounds.min,
        &bounds.max,
    )
}
