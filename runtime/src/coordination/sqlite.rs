//! Coordination on SQLite, in a file of its own (P9).
//!
//! Nothing in it is needed for correctness: it is written without waiting for the disk, and made anew where it is missing.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use sqlx::sqlite::{SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection, raw_sql};
use tokio::sync::Mutex;

use super::{Coordination, Instance, PumpReport, Roll, stored};
use crate::store::StoreError;
use crate::store::sqlite::{OpenOptions, file, of_store, options};

/// One row an instance: a heartbeat is one write, however many pumps it tells of (P16).
const TABLES: &str = "create table if not exists projectionist_instances (
    name text primary key,
    incarnation text not null,
    pid integer not null,
    started_at text not null,
    seen_at text not null,
    pumps text not null
) strict, without rowid";

/// Coordination on SQLite.
#[derive(Debug)]
pub struct SqliteCoordination {
    path: PathBuf,
    open: OpenOptions,
    conn: Mutex<Option<Opened>>,
}

/// A connection, and the file that it is to: somebody may remove or replace that while it is open.
#[derive(Debug)]
struct Opened {
    conn: SqliteConnection,
    file: u64,
}

impl SqliteCoordination {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// If there is none and none may be made, if it is no database, or cannot be written to.
    pub async fn open(path: impl AsRef<Path>, open: OpenOptions) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let conn = connect(&path, open)
            .await
            .map_err(|error| of_store(&path, error))?;
        Ok(Self {
            path,
            open,
            conn: Mutex::new(Some(conn)),
        })
    }

    fn failed(&self, error: sqlx::Error) -> StoreError {
        of_store(&self.path, error)
    }

    async fn write(
        &self,
        instance: &Instance,
        at: Timestamp,
        pumps: &[PumpReport],
    ) -> Result<(), StoreError> {
        let pumps = stored::write(pumps);
        let mut slot = self.conn.lock().await;
        // It stays in its slot: behind a heartbeat whose future was dropped the next one queues, and comes last.
        let opened = self.lend(&mut slot).await?;
        let written = sqlx::query(
            "insert into projectionist_instances (name, incarnation, pid, started_at, seen_at, pumps)
             values ($1, $2, $3, $4, $5, $6)
             on conflict (name) do update set incarnation = excluded.incarnation, pid = excluded.pid,
                 started_at = excluded.started_at, seen_at = excluded.seen_at, pumps = excluded.pumps;
             delete from projectionist_instances where name <> $1",
        )
        .bind(&instance.name)
        .bind(&instance.incarnation)
        .bind(instance.pid)
        .bind(instance.started_at.to_string())
        .bind(at.to_string())
        .bind(pumps)
        .execute(&mut opened.conn)
        .await;
        if written.is_err() {
            // Whatever is wrong with it, the next heartbeat has another.
            *slot = None;
        }
        written.map_err(|error| self.failed(error))?;
        Ok(())
    }

    /// The connection, or a new one where there is none or its file is no longer the one at the path (P9).
    async fn lend<'s>(&self, slot: &'s mut Option<Opened>) -> Result<&'s mut Opened, StoreError> {
        let still = |opened: &Opened| file(&self.path).is_ok_and(|file| file == opened.file);
        let opened = match slot.take().filter(still) {
            Some(opened) => opened,
            None => connect(&self.path, self.open)
                .await
                .map_err(|error| self.failed(error))?,
        };
        Ok(slot.insert(opened))
    }

    async fn read(&self) -> Result<Vec<Roll>, StoreError> {
        let mut slot = self.conn.lock().await;
        let opened = self.lend(&mut slot).await?;
        let rows = sqlx::query("select * from projectionist_instances order by name")
            .fetch_all(&mut opened.conn)
            .await
            .map_err(|error| self.failed(error))?;
        drop(slot);
        rows.iter().map(|row| self.roll(row)).collect()
    }

    fn roll(&self, row: &SqliteRow) -> Result<Roll, StoreError> {
        let text = |column: &'static str| row.try_get::<String, _>(column);
        let text = |column| text(column).map_err(|error| self.failed(error));
        let time = |column| {
            let value = text(column)?;
            value.parse().map_err(|_| self.corrupt(column, value))
        };
        let pumps = stored::read(&text("pumps")?).map_err(|odd| self.corrupt("pumps", odd))?;
        Ok(Roll {
            instance: Instance {
                name: text("name")?,
                incarnation: text("incarnation")?,
                pid: row.try_get("pid").map_err(|error| self.failed(error))?,
                started_at: time("started_at")?,
            },
            seen_at: time("seen_at")?,
            pumps,
        })
    }

    fn corrupt(&self, what: &'static str, value: String) -> StoreError {
        StoreError::Corrupt {
            store: self.path.display().to_string(),
            what,
            value,
        }
    }
}

async fn connect(path: &Path, open: OpenOptions) -> Result<Opened, sqlx::Error> {
    if open.read_only {
        let conn = options(path).read_only(true).connect().await?;
        let file = file(path)?;
        return Ok(Opened { conn, file });
    }
    if let (true, Some(directory)) = (open.create, path.parent()) {
        std::fs::create_dir_all(directory)?;
    }
    let mut conn = options(path)
        .create_if_missing(open.create)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Off)
        .connect()
        .await?;
    raw_sql(TABLES).execute(&mut conn).await?;
    let file = file(path)?;
    Ok(Opened { conn, file })
}

impl Coordination for SqliteCoordination {
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
