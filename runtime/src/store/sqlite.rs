//! The store on SQLite: read model, checkpoints and letters in one file.
//!
//! One connection writes, lent to one page after the other in the order of asking; another reads (P9). Pages commit
//! with `synchronous = full`, so that power failure repeats one page at most (P7).

mod connect;
mod errors;
pub mod lock;
mod page;
mod rows;
mod schema;
mod split;
#[cfg(test)]
mod tests;
mod values;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sqlx::{
    AssertSqlSafe, Column as _, Executor as _, SqlSafeStr as _, SqliteConnection, Statement as _,
};

use self::connect::{Slot, Writer};
use self::page::SqlitePage;
use self::rows::{checkpoint_columns, letter_columns};
use super::{Checkpoint, Effects, NewCheckpoint, Split, SplitError, Store, StoreError, Table};
use crate::letters::{Letter, LetterFilter};
use crate::position::{LeaseId, Position};

pub(crate) use self::connect::{file, options};
pub(crate) use self::errors::of_store;

/// [`Store::database`]'s name for it.
const DATABASE: &str = "sqlite";

/// How to open a [`SqliteStore`].
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// To look only: nothing is made or changed, and every write is [`StoreError::ReadOnly`].
    pub read_only: bool,
    /// Make the file, and its directory, where there is none.
    pub create: bool,
}

/// The store on SQLite. Clones are the same store.
#[derive(Clone, Debug)]
pub struct SqliteStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// None: opened to look only.
    writer: Option<Slot<Writer>>,
    reader: Slot<SqliteConnection>,
    /// Answers to COMMIT get lost.
    #[cfg(test)]
    lose_answers: std::sync::atomic::AtomicBool,
}

impl Inner {
    fn writer(&self) -> Result<&Slot<Writer>, StoreError> {
        self.writer.as_ref().ok_or_else(|| StoreError::ReadOnly {
            store: self.path.display().to_string(),
            source: "it was opened to look only".into(),
        })
    }
}

impl SqliteStore {
    /// Opens the store in the file at `path`.
    ///
    /// # Errors
    ///
    /// If there is no such file and none may be made, if it is no database, is of another version of this program,
    /// or cannot be written to.
    pub async fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let writer = if options.read_only {
            None
        } else {
            if let (true, Some(directory)) = (options.create, path.parent()) {
                std::fs::create_dir_all(directory).map_err(|error| errors::of_io(path, error))?;
            }
            Some(Slot::open_writer(path, options.create).await?)
        };
        let reader = Slot::of_reader(path);
        if writer.is_none() {
            let mut lent = reader
                .lend()
                .await
                .map_err(|error| errors::of_looking(path, error))?;
            schema::check(lent.conn(), path).await?;
            lent.give_back();
        }
        Ok(Self(Arc::new(Inner {
            path: path.to_owned(),
            writer,
            reader,
            #[cfg(test)]
            lose_answers: false.into(),
        })))
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        errors::of_store(&self.0.path, error)
    }

    async fn select_checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        let mut lent = self
            .0
            .reader
            .lend()
            .await
            .map_err(|error| self.failed(error))?;
        let rows = sqlx::query(concat!(
            "select ",
            checkpoint_columns!(),
            " from projectionist_checkpoints order by name, collection, tenant, generation, range_min, range_max"
        ))
        .fetch_all(lent.conn())
        .await
        .map_err(|error| self.failed(error))?;
        lent.give_back();
        rows.iter()
            .map(|row| rows::checkpoint(row, &self.0.path))
            .collect()
    }

    async fn insert_checkpoint(&self, new: &NewCheckpoint) -> Result<Checkpoint, StoreError> {
        let failed = |error| self.failed(error);
        let NewCheckpoint {
            projection,
            rid,
            bounds,
            mode,
            start,
            position,
            at,
        } = new;
        let lease = projection.lease(bounds);
        let mut lent = self.0.writer()?.lend().await.map_err(failed)?;
        let writer = lent.conn();
        writer.permit();
        sqlx::query(
            "insert into projectionist_checkpoints (lease, tenant, collection, name, generation, rid,
                 range_min, range_max, mode, epoch, version, start, position, changed_at)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10, $11, $12
             where not exists (
                 select 1 from projectionist_checkpoints
                 where tenant = $2 and collection = $3 and name = $4 and generation = $5
                   and range_min < $8 and $7 < range_max)
             on conflict (lease) do nothing",
        )
        .bind(lease.as_str())
        .bind(&projection.tenant)
        .bind(&projection.collection)
        .bind(&projection.name)
        .bind(projection.generation)
        .bind(rid)
        .bind(&bounds.min)
        .bind(&bounds.max)
        .bind(mode.as_str())
        .bind(start)
        .bind(position.as_ref().map(Position::as_str))
        .bind(at.to_string())
        .execute(&mut writer.conn)
        .await
        .map_err(failed)?;
        let row = sqlx::query(concat!(
            "select ",
            checkpoint_columns!(),
            " from projectionist_checkpoints
              where tenant = $1 and collection = $2 and name = $3 and generation = $4
                and range_min < $6 and $5 < range_max
              order by lease <> $7 limit 1"
        ))
        .bind(&projection.tenant)
        .bind(&projection.collection)
        .bind(&projection.name)
        .bind(projection.generation)
        .bind(&bounds.min)
        .bind(&bounds.max)
        .bind(lease.as_str())
        .fetch_one(&mut writer.conn)
        .await
        .map_err(failed)?;
        writer.forbid();
        lent.give_back();
        let row = rows::checkpoint(&row, &self.0.path)?;
        if row.lease == lease {
            return Ok(row);
        }
        Err(StoreError::Overlap {
            store: self.0.path.display().to_string(),
            bounds: bounds.clone(),
            standing: row.bounds,
        })
    }

    async fn raise_epoch(
        &self,
        lease: &LeaseId,
        at: Timestamp,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let failed = |error| self.failed(error);
        let mut lent = self.0.writer()?.lend().await.map_err(failed)?;
        let writer = lent.conn();
        writer.permit();
        // All rows are fetched, not the first alone: the statement commits when it ends.
        let rows = sqlx::query(concat!(
            "update projectionist_checkpoints set epoch = epoch + 1, changed_at = $2 where lease = $1 returning ",
            checkpoint_columns!()
        ))
        .bind(lease.as_str())
        .bind(at.to_string())
        .fetch_all(&mut writer.conn)
        .await
        .map_err(failed)?;
        writer.forbid();
        lent.give_back();
        rows.first()
            .map(|row| rows::checkpoint(row, &self.0.path))
            .transpose()
    }

    async fn select_letters(&self, filter: &LetterFilter) -> Result<Vec<Letter>, StoreError> {
        let failed = |error| self.failed(error);
        let mut lent = self.0.reader.lend().await.map_err(failed)?;
        let rows = sqlx::query(concat!(
            "select ",
            letter_columns!(),
            " from projectionist_letters
             where id > $1 and ($2 is null or name = $2) and ($3 is null or document_id = $3)
             order by id limit $4"
        ))
        .bind(filter.after)
        .bind(&filter.projection)
        .bind(&filter.document_id)
        .bind(match filter.limit {
            0 => -1,
            limit => i64::from(limit),
        })
        .fetch_all(lent.conn())
        .await
        .map_err(failed)?;
        lent.give_back();
        rows.iter()
            .map(|row| rows::letter(row, &self.0.path))
            .collect()
    }

    async fn select_letter(&self, id: i64) -> Result<Option<Letter>, StoreError> {
        let failed = |error| self.failed(error);
        let mut lent = self.0.reader.lend().await.map_err(failed)?;
        let row = sqlx::query(concat!(
            "select ",
            letter_columns!(),
            " from projectionist_letters where id = $1"
        ))
        .bind(id)
        .fetch_optional(lent.conn())
        .await
        .map_err(failed)?;
        lent.give_back();
        row.map(|row| rows::letter(&row, &self.0.path)).transpose()
    }

    async fn select(&self, sql: &str) -> Result<Table, StoreError> {
        let failed = |error| self.failed(error);
        let mut lent = self.0.reader.lend().await.map_err(failed)?;
        let conn = lent.conn();
        // Prepared first: a result without rows has columns too.
        let statement = conn
            .prepare(AssertSqlSafe(sql).into_sql_str())
            .await
            .map_err(failed)?;
        let columns = statement
            .columns()
            .iter()
            .map(|column| column.name().to_owned())
            .collect();
        let rows = statement
            .query()
            .fetch_all(&mut *conn)
            .await
            .map_err(failed)?;
        let rows = rows
            .iter()
            .map(values::row)
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        lent.give_back();
        Ok(Table { columns, rows })
    }
}

impl Store for SqliteStore {
    /// The last connection to close copies the log into the file: then `projector.db` alone is the store.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // The one that may write goes last: the other cannot copy.
            self.0.reader.close().await;
            if let Some(writer) = &self.0.writer {
                writer.close().await;
            }
        })
    }

    fn database(&self) -> &'static str {
        DATABASE
    }

    fn define<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let page = SqlitePage::begin(Arc::clone(&self.0)).await?;
            page.define(of, ddl).await
        })
    }

    fn rehearse<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let page = SqlitePage::begin(Arc::clone(&self.0)).await?;
            page.rehearse(of, ddl).await
        })
    }

    fn checkpoints(&self) -> BoxFuture<'_, Result<Vec<Checkpoint>, StoreError>> {
        Box::pin(self.select_checkpoints())
    }

    fn create<'a>(
        &'a self,
        new: &'a NewCheckpoint,
    ) -> BoxFuture<'a, Result<Checkpoint, StoreError>> {
        Box::pin(self.insert_checkpoint(new))
    }

    fn take<'a>(
        &'a self,
        lease: &'a LeaseId,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, StoreError>> {
        Box::pin(self.raise_epoch(lease, at))
    }

    fn split<'a>(&'a self, split: &'a Split) -> BoxFuture<'a, Result<Vec<Checkpoint>, SplitError>> {
        Box::pin(split::split(&self.0, split))
    }

    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn Effects>, StoreError>> {
        Box::pin(async move {
            let page = SqlitePage::begin(Arc::clone(&self.0)).await?;
            Ok(Box::new(page) as Box<dyn Effects>)
        })
    }

    fn letters<'a>(
        &'a self,
        filter: &'a LetterFilter,
    ) -> BoxFuture<'a, Result<Vec<Letter>, StoreError>> {
        Box::pin(self.select_letters(filter))
    }

    fn letter(&self, id: i64) -> BoxFuture<'_, Result<Option<Letter>, StoreError>> {
        Box::pin(self.select_letter(id))
    }

    fn is_transient(&self, error: &(dyn Error + 'static)) -> bool {
        error
            .downcast_ref::<sqlx::Error>()
            .is_some_and(errors::is_transient)
    }

    fn query<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<Table, StoreError>> {
        Box::pin(self.select(sql))
    }
}
