//! The transaction of one page.
//!
//! The compare-and-set of the checkpoint is its last statement before COMMIT, and tests besides epoch and version that the
//! transaction is still the one begun (P6): I1, I2 and I3 rest on it. A page that is dropped closes its connection, and
//! the server rolls back.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use projectionist::extract::tx::{Transaction, TxError, TxErrorClass};
use projectionist::sql::{Row, Value};
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgTransactionManager;
use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, Postgres, Row as _, SqlSafeStr as _, raw_sql,
};
use sqlx_core::transaction::TransactionManager as _;

use super::{Inner, errors, values};
use crate::crash;
use crate::letters::{LetterStatus, NewLetter};
use crate::store::rows::signed;
use crate::store::{Advance, Bulk, CommitError, Effects, Group, Once, StoreError};

/// A setting of the transaction, which ends with it: a COMMIT or ROLLBACK of a hook takes it away.
const ADVANCE: &str = "update projectionist_checkpoints set version = version + 1, position = $1, changed_at = $2
where lease = $3 and epoch = $4 and version = $5 and current_setting('projectionist.page', true) = $6
returning version";

/// An open transaction of a page.
pub(super) struct PostgresPage {
    /// None: it ended.
    conn: Option<PoolConnection<Postgres>>,
    mark: String,
    store: Arc<Inner>,
}

impl fmt::Debug for PostgresPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresPage({})", self.mark)
    }
}

impl Drop for PostgresPage {
    fn drop(&mut self) {
        // A transaction may be open in it: the socket is closed, and the server rolls back.
        if let Some(conn) = self.conn.take() {
            drop(conn.detach());
        }
    }
}

impl PostgresPage {
    pub(super) async fn begin(store: Arc<Inner>) -> Result<Self, StoreError> {
        static PAGES: AtomicU64 = AtomicU64::new(1);
        let failed = |error| errors::of_store(&store.name, error);
        let conn = store.pool.acquire().await.map_err(failed)?;
        let mut page = Self {
            conn: Some(conn),
            mark: PAGES.fetch_add(1, Ordering::Relaxed).to_string(),
            store: Arc::clone(&store),
        };
        let sql = format!("begin; set local projectionist.page = '{}'", page.mark);
        PgTransactionManager::begin(page.conn(), Some(AssertSqlSafe(sql).into_sql_str()))
            .await
            .map_err(failed)?;
        Ok(page)
    }

    fn conn(&mut self) -> &mut PgConnection {
        self.conn.as_mut().expect("it is taken by its end alone")
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        errors::of_store(&self.store.name, error)
    }

    /// Runs DDL in this transaction and commits it.
    pub(super) async fn define(mut self, of: &str, ddl: &str) -> Result<(), StoreError> {
        self.try_ddl(of, ddl).await?;
        let committed = PgTransactionManager::commit(self.conn()).await;
        committed.map_err(|error| errors::of_ddl(of, &self.store.name, error))?;
        self.give_back();
        Ok(())
    }

    /// Runs DDL in this transaction and rolls it back.
    pub(super) async fn rehearse(mut self, of: &str, ddl: &str) -> Result<(), StoreError> {
        let tried = self.try_ddl(of, ddl).await;
        self.take_back().await;
        tried
    }

    async fn try_ddl(&mut self, of: &str, ddl: &str) -> Result<(), StoreError> {
        let store = self.store.name.clone();
        let failed = |error| errors::of_ddl(of, &store, error);
        raw_sql(AssertSqlSafe(ddl))
            .execute(self.conn())
            .await
            .map_err(failed)?;
        if self.is_intact().await.map_err(failed)? {
            return Ok(());
        }
        Err(StoreError::Define {
            of: of.to_owned(),
            source: "it ends its transaction: BEGIN, COMMIT and ROLLBACK are the projector's alone"
                .into(),
        })
    }

    async fn is_intact(&mut self) -> Result<bool, sqlx::Error> {
        let mark = self.mark.clone();
        sqlx::query_scalar(
            "select current_setting('projectionist.page', true) is not distinct from $1",
        )
        .bind(mark)
        .fetch_one(self.conn())
        .await
    }

    /// Whether sqlx too thinks that the page's transaction is open, and nothing inside it: a hook may have left one of
    /// sqlx's savepoints, or ended the transaction through sqlx.
    async fn is_level(&mut self) -> Result<bool, sqlx::Error> {
        let level = |conn: &PgConnection| PgTransactionManager::get_transaction_depth(conn) == 1;
        let conn = self.conn();
        if !level(conn) {
            // A transaction of sqlx that was dropped rolls back when its turn comes.
            conn.ping().await?;
        }
        Ok(level(conn))
    }

    async fn advance(&mut self, advance: &Advance) -> Result<(), CommitError> {
        match self.is_level().await {
            Ok(true) => {}
            Ok(false) => return Err(CommitError::Broken),
            Err(error) => return Err(self.failed(error).into()),
        }
        let mark = self.mark.clone();
        let advanced = sqlx::query(ADVANCE)
            .bind(advance.position.as_str())
            .bind(advance.at.to_string())
            .bind(advance.lease.as_str())
            .bind(signed(advance.epoch))
            .bind(signed(advance.version))
            .bind(mark)
            .fetch_all(self.conn())
            .await;
        match advanced {
            Ok(rows) if rows.len() == 1 => Ok(()),
            Ok(_) => Err(match self.is_intact().await {
                Ok(true) => CommitError::Fenced(advance.lease.clone()),
                Ok(false) => CommitError::Broken,
                Err(error) => self.failed(error).into(),
            }),
            // A statement failed and the hook went on as if it had not: the server takes everything back.
            Err(error) if errors::is_broken(&error) => Err(CommitError::Refused(error.into())),
            Err(error) => Err(self.failed(error).into()),
        }
    }

    /// Gives the connection back in good order.
    fn give_back(&mut self) {
        drop(self.conn.take());
    }

    /// Rolls back. A connection that does not is closed.
    async fn take_back(&mut self) {
        let rolled_back = PgTransactionManager::rollback(self.conn()).await;
        let is_over = PgTransactionManager::get_transaction_depth(self.conn()) == 0;
        if rolled_back.is_ok() && is_over {
            self.give_back();
        }
    }
}

impl Transaction for PostgresPage {
    fn database(&self) -> &'static str {
        super::DATABASE
    }

    fn execute<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
    ) -> BoxFuture<'t, Result<u64, TxError>> {
        Box::pin(async move {
            if values::ends_transaction(sql) {
                return Err(TxError::new(
                    TxErrorClass::Statement,
                    "BEGIN, COMMIT and ROLLBACK are the projector's alone; savepoints are yours",
                ));
            }
            let arguments = values::arguments(params)?;
            let done = sqlx::query_with(AssertSqlSafe(sql), arguments)
                .execute(self.conn())
                .await
                .map_err(errors::of_statement)?;
            Ok(done.rows_affected())
        })
    }

    fn fetch<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
        limit: usize,
    ) -> BoxFuture<'t, Result<Vec<Row>, TxError>> {
        Box::pin(async move {
            let arguments = values::arguments(params)?;
            let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
            let mut stream = query.fetch(self.conn());
            let mut rows = Vec::new();
            while rows.len() < limit
                && let Some(row) = stream.try_next().await.map_err(errors::of_statement)?
            {
                rows.push(values::row(&row).map_err(errors::of_statement)?);
            }
            Ok(rows)
        })
    }

    fn native(&mut self) -> &mut (dyn Any + Send) {
        self.conn()
    }
}

impl Effects for PostgresPage {
    fn many<'t>(
        &'t mut self,
        statement: &'t Bulk,
        tuples: Vec<Value>,
    ) -> BoxFuture<'t, Result<(), TxError>> {
        Box::pin(async move {
            let count = tuples.len() / statement.kinds().len();
            let mut arguments = Some(values::arrays(statement.kinds(), tuples)?);
            for (_, sql) in statement.over(count) {
                let arguments = arguments.take().unwrap_or_default();
                sqlx::query_with(AssertSqlSafe(sql), arguments)
                    .execute(self.conn())
                    .await
                    .map_err(errors::of_statement)?;
            }
            Ok(())
        })
    }

    fn put<'t>(&'t mut self, letters: &'t [NewLetter]) -> BoxFuture<'t, Result<(), StoreError>> {
        Box::pin(async move {
            for letter in letters {
                if let Err(error) = put(self.conn(), letter).await {
                    return Err(self.failed(error));
                }
            }
            Ok(())
        })
    }

    fn commit<'t>(
        mut self: Box<Self>,
        advance: &'t Advance,
    ) -> BoxFuture<'t, Result<(), CommitError>>
    where
        Self: 't,
    {
        Box::pin(async move {
            if let Err(error) = self.advance(advance).await {
                self.take_back().await;
                return Err(error);
            }
            crash::point("before-commit");
            let committed = PgTransactionManager::commit(self.conn()).await;
            crash::point("after-commit");
            #[cfg(test)]
            let committed = if self.store.lose_answers.load(Ordering::SeqCst) {
                Err(sqlx::Error::WorkerCrashed)
            } else {
                committed
            };
            match committed {
                Ok(()) => {
                    self.give_back();
                    Ok(())
                }
                Err(error) => {
                    let store = Arc::clone(&self.store);
                    // Closed, so that nothing more is asked of it; what was asked may still be under way.
                    drop(self);
                    settle(&store, advance, error).await
                }
            }
        })
    }

    fn rollback<'t>(mut self: Box<Self>) -> BoxFuture<'t, ()>
    where
        Self: 't,
    {
        Box::pin(async move { self.take_back().await })
    }
}

/// A page of rows alone: one statement, which commits itself. Its checkpoint's compare-and-set guards all of it (P6).
pub(super) async fn write_once(
    store: &Inner,
    once: &Once,
    groups: Vec<Group<'_>>,
    advance: &Advance,
) -> Option<Result<(), CommitError>> {
    let Ok(arguments) = values::once(groups, advance) else {
        return None;
    };
    let mut conn = match store.pool.acquire().await {
        Ok(conn) => conn,
        Err(error) => return Some(Err(errors::of_store(&store.name, error).into())),
    };
    crash::point("before-commit");
    let advanced: Result<i64, _> =
        sqlx::query_scalar_with(AssertSqlSafe(once.text.as_str()), arguments)
            .fetch_one(&mut *conn)
            .await;
    crash::point("after-commit");
    #[cfg(test)]
    let advanced = if store.lose_answers.load(Ordering::SeqCst) {
        advanced.and(Err(sqlx::Error::WorkerCrashed))
    } else {
        advanced
    };
    match advanced {
        Ok(1) => Some(Ok(())),
        Ok(_) => Some(Err(CommitError::Fenced(advance.lease.clone()))),
        Err(error) if errors::is_of_values(&error) => None,
        Err(error) => {
            // Nothing more is asked of it; what was asked may still be under way.
            drop(conn.detach());
            Some(settle(store, advance, error).await)
        }
    }
}

/// Whether a COMMIT that was answered with an error, or not at all, happened. It may still be under way, so the row is
/// read behind its lock.
async fn settle(store: &Inner, advance: &Advance, error: sqlx::Error) -> Result<(), CommitError> {
    let row = match standing(store, advance).await {
        Ok(row) => row,
        Err(unread) => return Err(CommitError::Unknown(unread.into())),
    };
    match row {
        // Under our epoch only we raise the version.
        Some((epoch, version))
            if epoch == signed(advance.epoch) && version == signed(advance.version) + 1 =>
        {
            Ok(())
        }
        Some((epoch, _)) if epoch == signed(advance.epoch) && errors::is_constraint(&error) => {
            Err(CommitError::Refused(error.into()))
        }
        Some((epoch, _)) if epoch == signed(advance.epoch) => {
            Err(errors::of_store(&store.name, error).into())
        }
        _ => Err(CommitError::Fenced(advance.lease.clone())),
    }
}

async fn standing(store: &Inner, advance: &Advance) -> Result<Option<(i64, i64)>, sqlx::Error> {
    let mut transaction = store.pool.begin().await?;
    let row = sqlx::query(
        "select epoch, version from projectionist_checkpoints where lease = $1 for update",
    )
    .bind(advance.lease.as_str())
    .fetch_optional(&mut *transaction)
    .await?;
    transaction.rollback().await?;
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .transpose()
}

async fn put(conn: &mut PgConnection, letter: &NewLetter) -> Result<(), sqlx::Error> {
    let NewLetter {
        projection,
        lease,
        bounds,
        key,
        partition_key,
        document_id,
        sequence,
        operation,
        etag,
        written_at,
        hook,
        errors,
        attempts,
        failed_at,
        build,
        body,
    } = letter;
    // PostgreSQL's texts hold no zero character.
    let plain = |text: &str| text.replace('\0', "\u{fffd}");
    let errors = serde_json::to_string(errors).expect("strings are always JSON");
    sqlx::query(
        "insert into projectionist_letters (tenant, collection, name, generation, change_key, status, lease,
             range_min, range_max, partition_key, document_id, sequence, operation, etag, written_at, hook, errors,
             attempts, failed_at, last_failed_at, build, body)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19, $20, $21)
         on conflict (tenant, collection, name, generation, change_key) do nothing",
    )
    .bind(&projection.tenant)
    .bind(&projection.collection)
    .bind(&projection.name)
    .bind(i64::from(projection.generation))
    .bind(key)
    .bind(LetterStatus::Dead.as_str())
    .bind(lease.as_str())
    .bind(&bounds.min)
    .bind(&bounds.max)
    .bind(plain(partition_key))
    .bind(plain(document_id))
    .bind(sequence.map(signed))
    .bind(operation.as_str())
    .bind(etag.as_deref().map(plain))
    .bind(written_at.to_string())
    .bind(hook)
    .bind(errors)
    .bind(i64::from(*attempts))
    .bind(failed_at.to_string())
    .bind(build)
    .bind(body.as_deref())
    .execute(conn)
    .await
    .map(drop)
}
