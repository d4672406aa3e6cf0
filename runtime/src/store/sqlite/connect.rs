//! Connections: one that writes, guarded, and one that reads.
//!
//! The writing one refuses every COMMIT that the store did not ask for (P6), the implicit one of a
//! statement after a hidden ROLLBACK among them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous, SqliteTransactionManager,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, SqlSafeStr as _, SqliteConnection, raw_sql,
};
use sqlx_core::transaction::TransactionManager as _;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::{errors, schema};
use crate::store::StoreError;

/// How long a statement waits for another process's lock before it is [`StoreError::Busy`].
const PATIENCE: Duration = Duration::from_secs(5);

/// Statements kept prepared by a connection: hooks' own, for many projections.
const STATEMENTS: usize = 512;

/// The mark that a page's transaction is still the one begun; see [`Writer::begin`].
const MARK: &str = "create temp table projectionist_page (page integer not null) strict;
insert into temp.projectionist_page (page) values (0)";

/// What is common to connections of this project, to whichever file.
pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(PATIENCE)
        .disable_statement_logging()
}

/// The connection that writes.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) conn: SqliteConnection,
    permit: Arc<AtomicBool>,
    page: u64,
}

impl Writer {
    async fn connect(path: &Path, create: bool) -> Result<Self, sqlx::Error> {
        let mut conn = options(path)
            .create_if_missing(create)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            // Power failure would take the last pages under NORMAL, effects and checkpoints together:
            // consistent, but what hooks did outside would then be repeated for more than the one page that P7 allows.
            .synchronous(SqliteSynchronous::Full)
            // The mark of every page then costs no file.
            .pragma("temp_store", "memory")
            // 16 MB of log instead of 4: what many pages change is copied into the file less often.
            .pragma("wal_autocheckpoint", "4000")
            .statement_cache_capacity(STATEMENTS)
            .connect()
            .await?;
        raw_sql(MARK).execute(&mut conn).await?;
        Ok(Self {
            conn,
            permit: Arc::default(),
            page: 0,
        })
    }

    /// From here on no COMMIT passes without [`permit`](Self::permit).
    async fn guard(&mut self) -> Result<(), sqlx::Error> {
        let permit = Arc::clone(&self.permit);
        self.conn
            .lock_handle()
            .await?
            .set_commit_hook(move || permit.swap(false, Ordering::SeqCst));
        Ok(())
    }

    /// Lets the next COMMIT pass, and only that.
    pub(super) fn permit(&self) {
        self.permit.store(true, Ordering::SeqCst);
    }

    /// Takes back a permit that nothing used: a statement that changed nothing commits nothing.
    pub(super) fn forbid(&self) {
        self.permit.store(false, Ordering::SeqCst);
    }

    /// Begins a transaction, with a savepoint in it and a mark in that. All of it must still be there at the end
    /// (P6): a COMMIT or RELEASE takes the savepoint away, a ROLLBACK also the mark, and a ROLLBACK TO
    /// the savepoint, which takes other hooks' effects and leaves the savepoint, the mark alone.
    pub(super) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        self.page += 1;
        let sql = format!(
            "begin immediate; savepoint projectionist_page; update temp.projectionist_page set page = {}",
            self.page
        );
        SqliteTransactionManager::begin(&mut self.conn, Some(AssertSqlSafe(sql).into_sql_str()))
            .await
    }

    /// The mark of the transaction begun last.
    pub(super) fn mark(&self) -> i64 {
        i64::try_from(self.page).expect("no connection lives for 2^63 pages")
    }

    /// Whether the savepoint is gone, told after it was released, or the mark is not this page's, or another file
    /// was attached, with which no commit would be atomic.
    pub(super) async fn is_intact(&mut self) -> Result<bool, sqlx::Error> {
        sqlx::query_scalar(
            "select (select page from temp.projectionist_page) is $1
                and not exists (select 1 from pragma_database_list where name not in ('main', 'temp'))",
        )
        .bind(self.mark())
        .fetch_one(&mut self.conn)
        .await
    }

    /// Commits. sqlx's own count of open transactions goes with it.
    pub(super) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        self.permit();
        SqliteTransactionManager::commit(&mut self.conn).await
    }

    /// Whether sqlx too thinks that the page's transaction is open, and nothing inside it: a hook may have left one of
    /// sqlx's savepoints, or ended the transaction through sqlx.
    pub(super) async fn is_level(&mut self) -> Result<bool, sqlx::Error> {
        let level =
            |conn: &SqliteConnection| SqliteTransactionManager::get_transaction_depth(conn) == 1;
        if !level(&self.conn) {
            // A transaction of sqlx that was dropped rolls back when its turn comes.
            self.conn.ping().await?;
        }
        Ok(level(&self.conn))
    }
}

/// Where a connection waits for whoever asks first.
///
/// A connection is taken out and put back only after all went well. Whatever else happens to its user (an error, a panic, a future
/// dropped at any of its waits), it is closed, and SQLite rolls back what was open in it. The next
/// one opens another, whose BEGIN IMMEDIATE waits for the old one's lock.
#[derive(Debug)]
pub(super) struct Slot<C> {
    path: PathBuf,
    /// The file that was there when the slot was made.
    file: Option<u64>,
    conn: Arc<Mutex<Option<C>>>,
}

/// A connection on loan.
#[derive(Debug)]
pub(super) struct Lent<C> {
    // Dropped before the slot is free again.
    conn: C,
    slot: OwnedMutexGuard<Option<C>>,
}

impl<C> Lent<C> {
    pub(super) fn conn(&mut self) -> &mut C {
        &mut self.conn
    }

    /// Gives it back in good order.
    pub(super) fn give_back(mut self) {
        *self.slot = Some(self.conn);
    }

    /// Takes it out of use; the slot stays taken.
    pub(super) fn into_parts(self) -> (C, OwnedMutexGuard<Option<C>>) {
        (self.conn, self.slot)
    }
}

impl Slot<Writer> {
    /// Opens the file and makes or checks the store's tables.
    pub(super) async fn open_writer(path: &Path, create: bool) -> Result<Self, StoreError> {
        let failed = |error| errors::of_store(path, error);
        let mut writer = Writer::connect(path, create)
            .await
            .map_err(|error| errors::of_opening(path, create, error))?;
        schema::ensure(&mut writer.conn, path).await?;
        writer.guard().await.map_err(failed)?;
        Ok(Self::of(path, Some(writer)))
    }

    pub(super) async fn lend(&self) -> Result<Lent<Writer>, sqlx::Error> {
        let mut slot = Arc::clone(&self.conn).lock_owned().await;
        // Writing to a file that was removed or replaced would succeed, and all of it be gone with the process.
        if file(&self.path).ok() != self.file {
            return Err(sqlx::Error::Io(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "the file was removed or replaced under the running program; put it back, or stop the program",
            )));
        }
        let conn = if let Some(conn) = slot.take() {
            conn
        } else {
            let mut writer = Writer::connect(&self.path, false).await?;
            writer.guard().await?;
            writer
        };
        Ok(Lent { conn, slot })
    }
}

impl Slot<SqliteConnection> {
    /// A slot whose connection is opened when it is asked for.
    pub(super) fn of_reader(path: &Path) -> Self {
        Self::of(path, None)
    }

    pub(super) async fn lend(&self) -> Result<Lent<SqliteConnection>, sqlx::Error> {
        let mut slot = Arc::clone(&self.conn).lock_owned().await;
        let conn = match slot.take() {
            Some(conn) => conn,
            None => options(&self.path).read_only(true).connect().await?,
        };
        Ok(Lent { conn, slot })
    }
}

/// Which file is at a path.
pub(crate) fn file(path: &Path) -> std::io::Result<u64> {
    std::fs::metadata(path).map(|file| file.ino())
}

impl Slot<Writer> {
    /// Closes the connection, unless somebody has it: a hook that blocks its thread never gives it back. One that
    /// a rollback closed is opened for it, since only a connection that may write copies the log into the file.
    pub(super) async fn close(&self) {
        let Ok(mut slot) = self.conn.try_lock() else {
            return;
        };
        let writer = match slot.take() {
            Some(writer) => Some(writer),
            None => Writer::connect(&self.path, false).await.ok(),
        };
        if let Some(writer) = writer {
            // An error means that its thread is gone, and the connection with it.
            let _ = writer.conn.close().await;
        }
    }
}

impl Slot<SqliteConnection> {
    /// Closes the connection, unless somebody has it: a hook that blocks its thread never gives it back.
    pub(super) async fn close(&self) {
        let idle = self.conn.try_lock().ok().and_then(|mut slot| slot.take());
        if let Some(conn) = idle {
            let _ = conn.close().await;
        }
    }
}

impl<C> Slot<C> {
    fn of(path: &Path, conn: Option<C>) -> Self {
        Self {
            path: path.to_owned(),
            file: file(path).ok(),
            conn: Arc::new(Mutex::new(conn)),
        }
    }
}
