//! The transaction of one page.
//!
//! The compare-and-set of the checkpoint is its last statement before COMMIT, and tests besides epoch and version that the
//! transaction is still the one begun (P6): I1, I2 and I3 rest on it.

use std::any::Any;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use projectionist::extract::tx::{Transaction, TxError};
use projectionist::sql::{Row, Value};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::connect::{Lent, Writer};
use super::rows::signed;
use super::{Inner, errors, values};
use crate::crash;
use crate::letters::{LetterStatus, NewLetter};
use crate::store::{Advance, Bulk, CommitError, Effects, StoreError};

/// RELEASE fails where the savepoint is gone, and the statement behind it is then not run.
const ADVANCE: &str = "release projectionist_page;
update projectionist_checkpoints set version = version + 1, position = $1, changed_at = $2
where lease = $3 and epoch = $4 and version = $5
  and (select page from temp.projectionist_page) = $6
  and not exists (select 1 from pragma_database_list where name not in ('main', 'temp'))
returning version";

/// An open transaction of a page.
#[derive(Debug)]
pub(super) struct SqlitePage {
    lent: Lent<Writer>,
    store: Arc<Inner>,
}

impl SqlitePage {
    pub(super) async fn begin(store: Arc<Inner>) -> Result<Self, StoreError> {
        let failed = |error| errors::of_store(&store.path, error);
        let mut lent = store.writer()?.lend().await.map_err(failed)?;
        lent.conn().begin().await.map_err(failed)?;
        Ok(Self { lent, store })
    }

    /// Runs DDL in this transaction and commits it.
    pub(super) async fn define(mut self, of: &str, ddl: &str) -> Result<(), StoreError> {
        let path = self.store.path.clone();
        let failed = |error| errors::of_ddl(of, &path, error);
        self.try_ddl(of, ddl).await?;
        self.lent.conn().commit().await.map_err(failed)?;
        self.lent.give_back();
        Ok(())
    }

    /// Runs DDL in this transaction and rolls it back.
    pub(super) async fn rehearse(mut self, of: &str, ddl: &str) -> Result<(), StoreError> {
        let tried = self.try_ddl(of, ddl).await;
        self.close().await;
        tried
    }

    async fn try_ddl(&mut self, of: &str, ddl: &str) -> Result<(), StoreError> {
        let path = self.store.path.clone();
        let failed = |error| errors::of_ddl(of, &path, error);
        let writer = self.lent.conn();
        sqlx::raw_sql(AssertSqlSafe(ddl))
            .execute(&mut writer.conn)
            .await
            .map_err(failed)?;
        sqlx::raw_sql("release projectionist_page")
            .execute(&mut writer.conn)
            .await
            .map_err(failed)?;
        if !writer.is_intact().await.map_err(failed)? || !writer.is_level().await.map_err(failed)? {
            return Err(StoreError::Define {
                of: of.to_owned(),
                source: "it must not run BEGIN, COMMIT, ROLLBACK or ATTACH: all of it runs in one transaction"
                    .into(),
            });
        }
        Ok(())
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        errors::of_store(&self.store.path, error)
    }

    /// Advances the checkpoint inside the transaction.
    async fn advance(&mut self, advance: &Advance) -> Result<(), CommitError> {
        let writer = self.lent.conn();
        let mark = writer.mark();
        match writer.is_level().await {
            Ok(true) => {}
            Ok(false) => return Err(CommitError::Broken),
            Err(error) => return Err(self.failed(error).into()),
        }
        let advanced = sqlx::query(ADVANCE)
            .bind(advance.position.as_str())
            .bind(advance.at.to_string())
            .bind(advance.lease.as_str())
            .bind(signed(advance.epoch))
            .bind(signed(advance.version))
            .bind(mark)
            .fetch_all(&mut writer.conn)
            .await;
        match advanced {
            Ok(rows) if rows.len() == 1 => Ok(()),
            Ok(_) => Err(match self.lent.conn().is_intact().await {
                Ok(true) => CommitError::Fenced(advance.lease.clone()),
                Ok(false) => CommitError::Broken,
                Err(error) if errors::is_broken(&error) => CommitError::Broken,
                Err(error) => self.failed(error).into(),
            }),
            Err(error) if errors::is_broken(&error) => Err(CommitError::Broken),
            Err(error) => Err(self.failed(error).into()),
        }
    }

    /// Closes the connection, which rolls back what is open in it, and lets the next one open another.
    async fn close(self) {
        let (writer, slot) = self.lent.into_parts();
        // An error means that its thread is gone, and the connection with it.
        let _ = writer.conn.close().await;
        drop(slot);
    }
}

impl Transaction for SqlitePage {
    fn database(&self) -> &'static str {
        super::DATABASE
    }

    fn execute<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
    ) -> BoxFuture<'t, Result<u64, TxError>> {
        Box::pin(async move {
            let arguments = values::arguments(sql, params)?;
            let done = sqlx::query_with(AssertSqlSafe(sql), arguments)
                .execute(&mut self.lent.conn().conn)
                .await
                .map_err(errors::of_statement)?;
            // What changes no rows leaves the count of the statement before it.
            let counts = values::changes_rows(sql);
            Ok(if counts { done.rows_affected() } else { 0 })
        })
    }

    fn fetch<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
        limit: usize,
    ) -> BoxFuture<'t, Result<Vec<Row>, TxError>> {
        Box::pin(async move {
            let arguments = values::arguments(sql, params)?;
            let query = sqlx::query_with(AssertSqlSafe(sql), arguments);
            let mut stream = query.fetch(&mut self.lent.conn().conn);
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
        &mut self.lent.conn().conn
    }
}

impl Effects for SqlitePage {
    fn many<'t>(
        &'t mut self,
        statement: &'t Bulk,
        tuples: Vec<Value>,
    ) -> BoxFuture<'t, Result<(), TxError>> {
        Box::pin(async move {
            let width = statement.kinds().len();
            let mut tuples = tuples.into_iter();
            for (range, sql) in statement.over(tuples.len() / width) {
                let values = tuples.by_ref().take(range.len() * width);
                let arguments = values::bound(values)?;
                sqlx::query_with(AssertSqlSafe(sql), arguments)
                    .execute(&mut self.lent.conn().conn)
                    .await
                    .map_err(errors::of_statement)?;
            }
            Ok(())
        })
    }

    fn put<'t>(&'t mut self, letters: &'t [NewLetter]) -> BoxFuture<'t, Result<(), StoreError>> {
        Box::pin(async move {
            for letter in letters {
                if let Err(error) = put(self.lent.conn(), letter).await {
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
                self.close().await;
                return Err(error);
            }
            crash::point("before-commit");
            match self.lent.conn().commit().await {
                Ok(()) => {
                    crash::point("after-commit");
                    #[cfg(test)]
                    if self
                        .store
                        .lose_answers
                        .load(std::sync::atomic::Ordering::SeqCst)
                    {
                        let store = Arc::clone(&self.store);
                        self.close().await;
                        return settle(&store, advance, sqlx::Error::WorkerCrashed).await;
                    }
                    self.lent.give_back();
                    Ok(())
                }
                Err(error) => {
                    let store = Arc::clone(&self.store);
                    self.close().await;
                    settle(&store, advance, error).await
                }
            }
        })
    }

    fn rollback<'t>(self: Box<Self>) -> BoxFuture<'t, ()>
    where
        Self: 't,
    {
        Box::pin(self.close())
    }
}

/// Whether a COMMIT that was answered with an error, or not at all, happened: the row says it. The connection that
/// ran it is closed, so nothing is under way any more.
pub(super) async fn settle(
    store: &Inner,
    advance: &Advance,
    error: sqlx::Error,
) -> Result<(), CommitError> {
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
            Err(errors::of_store(&store.path, error).into())
        }
        _ => Err(CommitError::Fenced(advance.lease.clone())),
    }
}

async fn standing(store: &Inner, advance: &Advance) -> Result<Option<(i64, i64)>, sqlx::Error> {
    let mut lent = store.reader.lend().await?;
    let row = sqlx::query("select epoch, version from projectionist_checkpoints where lease = $1")
        .bind(advance.lease.as_str())
        .fetch_optional(lent.conn())
        .await?;
    lent.give_back();
    row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .transpose()
}

async fn put(writer: &mut Writer, letter: &NewLetter) -> Result<(), sqlx::Error> {
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
    .bind(projection.generation)
    .bind(key)
    .bind(LetterStatus::Dead.as_str())
    .bind(lease.as_str())
    .bind(&bounds.min)
    .bind(&bounds.max)
    .bind(partition_key)
    .bind(document_id)
    .bind(sequence.map(signed))
    .bind(operation.as_str())
    .bind(etag)
    .bind(written_at.to_string())
    .bind(hook)
    .bind(errors)
    .bind(attempts)
    .bind(failed_at.to_string())
    .bind(build)
    .bind(body.as_deref())
    .execute(&mut writer.conn)
    .await?;
    Ok(())
}
