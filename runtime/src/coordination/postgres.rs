//! Coordination on PostgreSQL, beside the store, on sessions of its own: a page that takes long does not hold it up.
//!
//! Nothing in it is needed for correctness.

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::sql::Value;
use sqlx::raw_sql;

use super::{Coordination, Instance, PumpReport, Roll, stored};
use crate::store::postgres::PostgresStore;
use crate::store::{Store as _, StoreError};

const TABLES: &str = "create table if not exists projectionist_instances (
    name text primary key,
    incarnation text not null,
    pid bigint not null,
    started_at text not null,
    seen_at text not null,
    pumps text not null
)";

/// Coordination on PostgreSQL.
#[derive(Debug)]
pub struct PostgresCoordination(PostgresStore);

impl PostgresCoordination {
    /// Coordination in the database of a store, which should be one opened for it alone.
    ///
    /// # Errors
    ///
    /// If its table is not there and cannot be made.
    pub async fn open(store: PostgresStore) -> Result<Self, StoreError> {
        raw_sql(TABLES)
            .execute(store.pool())
            .await
            .map_err(|error| store.failed(error))?;
        Ok(Self(store))
    }

    /// To look only: the table may be absent.
    pub const fn look(store: PostgresStore) -> Self {
        Self(store)
    }

    async fn write(
        &self,
        instance: &Instance,
        at: Timestamp,
        pumps: &[PumpReport],
    ) -> Result<(), StoreError> {
        let failed = |error| self.0.failed(error);
        let mut transaction = self.0.pool().begin().await.map_err(failed)?;
        sqlx::query(
            "insert into projectionist_instances (name, incarnation, pid, started_at, seen_at, pumps)
             values ($1, $2, $3, $4, $5, $6)
             on conflict (name) do update set incarnation = excluded.incarnation, pid = excluded.pid,
                 started_at = excluded.started_at, seen_at = excluded.seen_at, pumps = excluded.pumps",
        )
        .bind(&instance.name)
        .bind(&instance.incarnation)
        .bind(i64::from(instance.pid))
        .bind(instance.started_at.to_string())
        .bind(at.to_string())
        .bind(stored::write(pumps))
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        sqlx::query("delete from projectionist_instances where name <> $1")
            .bind(&instance.name)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    async fn read(&self) -> Result<Vec<Roll>, StoreError> {
        let there = "select to_regclass('projectionist_instances') is not null";
        if self.0.query(there).await?.rows != [[Value::Bool(true)]] {
            return Ok(Vec::new());
        }
        let table = self
            .0
            .query("select name, incarnation, pid, started_at, seen_at, pumps from projectionist_instances order by name")
            .await?;
        table.rows.into_iter().map(|row| self.roll(row)).collect()
    }

    fn roll(&self, row: Vec<Value>) -> Result<Roll, StoreError> {
        let corrupt = |what, value: String| self.0.corrupt(what, value);
        let [name, incarnation, pid, started_at, seen_at, pumps] = row
            .try_into()
            .map_err(|row: Vec<_>| corrupt("an instance", format!("{row:?}")))?;
        let text = |value: Value| match value {
            Value::Text(text) => Ok(text),
            other => Err(corrupt("a text", format!("{other:?}"))),
        };
        let time = |value: Value| {
            let text = text(value)?;
            text.parse().map_err(|_| corrupt("a time", text))
        };
        let pid = match pid {
            Value::Integer(pid) => {
                u32::try_from(pid).map_err(|_| corrupt("a process", pid.to_string()))?
            }
            other => return Err(corrupt("a process", format!("{other:?}"))),
        };
        Ok(Roll {
            instance: Instance {
                name: text(name)?,
                incarnation: text(incarnation)?,
                pid,
                started_at: time(started_at)?,
            },
            seen_at: time(seen_at)?,
            pumps: stored::read(&text(pumps)?).map_err(|odd| corrupt("pumps", odd))?,
        })
    }
}

impl Coordination for PostgresCoordination {
    fn beat<'a>(
        &'a self,
        instance: &'a Instance,
        at: Timestamp,
        pumps: &'a [PumpReport],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.write(instance, at, pumps))
    }

    fn rolls(&self) -> BoxFuture<'_, Result<Vec<Roll>, StoreError>> {
        Box::pin(self.read())
    }
}
