//! The store on PostgreSQL: read model, checkpoints and letters in one database.
//!
//! A page's transaction has a connection of its own. The checkpoint's compare-and-set is its last statement before COMMIT
//! (P6). A session is ended by the server where its owner is frozen (P8), so that nobody waits for it for long.

mod claim;
mod errors;
mod page;
mod schema;
mod split;
#[cfg(test)]
mod tests;
mod values;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::sql::Row;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{
    AssertSqlSafe, Column as _, ConnectOptions as _, Executor as _, PgPool, SqlSafeStr as _,
    Statement as _,
};

pub use self::claim::{Claim, Claimant, Claimed};
use self::page::PostgresPage;
use super::rows::{checkpoint_columns, letter_columns};
use super::{
    Advance, Checkpoint, CommitError, Effects, Group, NewCheckpoint, Once, Split, SplitError,
    Store, StoreError, Table, rows,
};
use crate::coordination::Instance;
use crate::letters::{Letter, LetterFilter};
use crate::position::{LeaseId, Position};

/// [`Store::database`]'s name for it.
const DATABASE: &str = "postgres";

/// What begins the `application_name` of every session of the store: by it a taker knows those that are in its way.
const APPLICATION: &str = "projectionist";

/// How to open a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// How many connections pages, and what people ask, have together.
    pub connections: u32,
    /// How long the server lets a transaction idle, and a statement run, before it ends the session (P8): longer than a
    /// hook may take.
    pub patience: Duration,
    /// What is done about the store's own tables.
    pub tables: Tables,
}

/// What is done about the store's own tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// They are made where there are none.
    Make,
    /// Nothing is made. Where there are none, there are no checkpoints and no letters: for a check.
    Leave,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            connections: 8,
            patience: Duration::from_secs(75),
            tables: Tables::Make,
        }
    }
}

/// The store on PostgreSQL. Clones are the same store.
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    pool: PgPool,
    connect: PgConnectOptions,
    /// Host and database, for messages: without user and password.
    name: String,
    /// Of this process's sessions.
    application: String,
    /// Answers to COMMIT get lost.
    #[cfg(test)]
    lose_answers: std::sync::atomic::AtomicBool,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresStore({})", self.0.name)
    }
}

/// How long a connection is waited for, and how long a taker waits for a lock before it ends whoever has it.
const ACQUIRE: Duration = Duration::from_secs(20);
/// Statements kept prepared by a connection: those of many projections, and hooks' own.
const STATEMENTS: usize = 512;

impl PostgresStore {
    /// Opens the store in the database at `url`: `postgres://user:password@host/database`.
    ///
    /// # Errors
    ///
    /// If it cannot be reached, is of another version of this program, or cannot be written to.
    pub async fn open(url: &str, options: OpenOptions) -> Result<Self, StoreError> {
        let connect: PgConnectOptions = url.parse().map_err(|_| StoreError::Failed {
            store: "in PostgreSQL".to_owned(),
            source: "its URL is none: `postgres://user:password@host/database`".into(),
        })?;
        let name = format!(
            "{}/{}",
            connect.get_host(),
            connect.get_database().unwrap_or(connect.get_username())
        );
        let OpenOptions {
            connections,
            patience,
            tables,
        } = options;
        let milliseconds = patience.as_millis().to_string();
        // A name that is cut off tells nobody apart.
        let application: String = format!("{APPLICATION} {}", uuid::Uuid::new_v4().simple())
            .chars()
            .take(63)
            .collect();
        let connect = connect
            .application_name(&application)
            .statement_cache_capacity(STATEMENTS)
            .options([
                ("idle_in_transaction_session_timeout", milliseconds.as_str()),
                ("statement_timeout", milliseconds.as_str()),
                // A backend that sends to a client which does not read obeys neither of the two.
                ("tcp_user_timeout", milliseconds.as_str()),
            ])
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(2))
            .acquire_timeout(ACQUIRE)
            // A round trip for each page; a session that is gone shows at its first statement.
            .test_before_acquire(false)
            .connect_with(connect.clone())
            .await
            .map_err(|error| errors::of_store(&name, error))?;
        schema::ensure(&pool, &name, tables).await?;
        Ok(Self(Arc::new(Inner {
            pool,
            connect,
            name,
            application,
            #[cfg(test)]
            lose_answers: false.into(),
        })))
    }

    /// Whether its tables are there.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn is_there(&self) -> Result<bool, StoreError> {
        schema::is_there(&self.0.pool)
            .await
            .map_err(|error| self.failed(error))
    }

    /// Asks for the right to run on it, without waiting.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn claim(&self, instance: &Instance) -> Result<Claimed, StoreError> {
        claim::claim(&self.0.connect, &self.0.name, instance).await
    }

    /// Who runs on it.
    ///
    /// # Errors
    ///
    /// The database's.
    pub async fn claimant(&self) -> Result<Option<Claimant>, StoreError> {
        let failed = |error| self.failed(error);
        let mut conn = self.0.pool.acquire().await.map_err(failed)?;
        claim::holder(&mut conn).await.map_err(failed)
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.0.pool
    }

    pub(crate) fn corrupt(&self, what: &'static str, value: String) -> StoreError {
        StoreError::Corrupt {
            store: self.0.name.clone(),
            what,
            value,
        }
    }

    pub(crate) fn failed(&self, error: sqlx::Error) -> StoreError {
        errors::of_store(&self.0.name, error)
    }

    fn checkpoint(&self, row: &PgRow) -> Result<Checkpoint, StoreError> {
        let cells = self.cells(row)?;
        rows::checkpoint(cells, &self.0.name)
    }

    fn cells(&self, row: &PgRow) -> Result<Row, StoreError> {
        values::row(row).map_err(|error| self.failed(error))
    }

    async fn select_checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        if !self.is_there().await? {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(concat!(
            "select ",
            checkpoint_columns!(),
            " from projectionist_checkpoints order by name, collection, tenant, generation, range_min, range_max"
        ))
        .fetch_all(&self.0.pool)
        .await
        .map_err(|error| self.failed(error))?;
        rows.iter().map(|row| self.checkpoint(row)).collect()
    }

    /// Two creators of overlapping ranges come one after the other: the table is locked against others that write whole rows
    /// anew, while pages go on (I5).
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
        let mut transaction = self.0.pool.begin().await.map_err(failed)?;
        lock_leases(&mut transaction).await.map_err(failed)?;
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
        .bind(i64::from(projection.generation))
        .bind(rid)
        .bind(&bounds.min)
        .bind(&bounds.max)
        .bind(mode.as_str())
        .bind(start)
        .bind(position.as_ref().map(Position::as_str))
        .bind(at.to_string())
        .execute(&mut *transaction)
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
        .bind(i64::from(projection.generation))
        .bind(&bounds.min)
        .bind(&bounds.max)
        .bind(lease.as_str())
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        let row = self.checkpoint(&row)?;
        if row.lease == lease {
            return Ok(row);
        }
        Err(StoreError::Overlap {
            store: self.0.name.clone(),
            bounds: bounds.clone(),
            standing: row.bounds,
        })
    }

    /// P8: a page of an earlier owner may hold the row. It is waited for briefly, and then its session is ended.
    async fn raise_epoch(
        &self,
        lease: &LeaseId,
        at: Timestamp,
    ) -> Result<Option<Checkpoint>, StoreError> {
        match self.try_raise(lease, at).await {
            Err(error) if errors::is_lock_timeout(&error) => {
                let ended = self
                    .end_others()
                    .await
                    .map_err(|error| self.failed(error))?;
                tracing::warn!(
                    lease = lease.as_str(),
                    ended,
                    "sessions of another instance held the checkpoint; they were ended"
                );
                self.try_raise(lease, at).await
            }
            raised => raised,
        }
        .map_err(|error| self.failed(error))?
        .map(|row| self.checkpoint(&row))
        .transpose()
    }

    async fn try_raise(
        &self,
        lease: &LeaseId,
        at: Timestamp,
    ) -> Result<Option<PgRow>, sqlx::Error> {
        let mut transaction = self.0.pool.begin().await?;
        sqlx::raw_sql("set local lock_timeout = '3s'")
            .execute(&mut *transaction)
            .await?;
        let row = sqlx::query(concat!(
            "update projectionist_checkpoints set epoch = epoch + 1, changed_at = $2 where lease = $1 returning ",
            checkpoint_columns!()
        ))
        .bind(lease.as_str())
        .bind(at.to_string())
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(row)
    }

    /// Ends sessions of other instances that are inside a transaction, in this database and of this role. How many.
    async fn end_others(&self) -> Result<i64, sqlx::Error> {
        sqlx::query_scalar(
            "select count(*) from (
                 select pg_terminate_backend(pid) from pg_stat_activity
                 where datname = current_database() and usename = current_user
                   and application_name like $1 and application_name <> $2
                   and xact_start is not null) as ended",
        )
        .bind(format!("{APPLICATION} %"))
        .bind(&self.0.application)
        .fetch_one(&self.0.pool)
        .await
    }

    async fn select_letters(&self, filter: &LetterFilter) -> Result<Vec<Letter>, StoreError> {
        let rows = sqlx::query(concat!(
            "select ",
            letter_columns!(),
            " from projectionist_letters
              where id > $1 and ($2::text is null or name = $2) and ($3::text is null or document_id = $3)
              order by id limit $4"
        ))
        .bind(filter.after)
        .bind(&filter.projection)
        .bind(&filter.document_id)
        .bind(match filter.limit {
            0 => None,
            limit => Some(i64::from(limit)),
        })
        .fetch_all(&self.0.pool)
        .await
        .map_err(|error| self.failed(error))?;
        rows.iter()
            .map(|row| rows::letter(self.cells(row)?, &self.0.name))
            .collect()
    }

    async fn select_letter(&self, id: i64) -> Result<Option<Letter>, StoreError> {
        let row = sqlx::query(concat!(
            "select ",
            letter_columns!(),
            " from projectionist_letters where id = $1"
        ))
        .bind(id)
        .fetch_optional(&self.0.pool)
        .await
        .map_err(|error| self.failed(error))?;
        row.map(|row| rows::letter(self.cells(&row)?, &self.0.name))
            .transpose()
    }

    async fn select(&self, sql: &str) -> Result<Table, StoreError> {
        let failed = |error| self.failed(error);
        let mut transaction = self.0.pool.begin().await.map_err(failed)?;
        sqlx::raw_sql("set transaction read only")
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        // Prepared first: a result without rows has columns too.
        let statement = (&mut *transaction)
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
            .fetch_all(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.rollback().await.map_err(failed)?;
        let rows = rows
            .iter()
            .map(|row| self.cells(row))
            .collect::<Result<_, _>>()?;
        Ok(Table { columns, rows })
    }
}

/// Whoever makes or splits leases comes one after the other; pages and takings are not held up.
async fn lock_leases(conn: &mut sqlx::PgConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("lock table projectionist_checkpoints in share update exclusive mode")
        .execute(conn)
        .await
        .map(drop)
}

impl Store for PostgresStore {
    fn database(&self) -> &'static str {
        DATABASE
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.pool.close())
    }

    fn define<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let page = PostgresPage::begin(Arc::clone(&self.0)).await?;
            page.define(of, ddl).await
        })
    }

    fn rehearse<'a>(&'a self, of: &'a str, ddl: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let page = PostgresPage::begin(Arc::clone(&self.0)).await?;
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
            let page = PostgresPage::begin(Arc::clone(&self.0)).await?;
            Ok(Box::new(page) as Box<dyn Effects>)
        })
    }

    fn write_once<'a>(
        &'a self,
        once: &'a Once,
        groups: Vec<Group<'a>>,
        advance: &'a Advance,
    ) -> BoxFuture<'a, Option<Result<(), CommitError>>> {
        Box::pin(page::write_once(&self.0, once, groups, advance))
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
