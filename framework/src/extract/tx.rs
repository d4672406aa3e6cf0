//! The transaction in which a page is applied.
//!
//! `Tx<'_>` is portable: `$1` placeholders, and rows as tuples, on every SQL store.
//! `Tx<'_, Sqlite>` dereferences to sqlx's own connection. What either writes commits with the
//! checkpoint or not at all (I2).

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;

use super::{Extract, ExtractError};
use crate::hook::HookCx;
use crate::needs::Needs;
use crate::sql::{FromRow, Params, Row, Value};
use crate::verdict::BoxError;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An open transaction, as a store offers it. Implemented by stores.
pub trait Transaction: Send {
    /// Which database this is: `"sqlite"`.
    fn database(&self) -> &'static str;

    /// Runs one statement; the number of rows it changed.
    fn execute<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
    ) -> BoxFuture<'t, Result<u64, TxError>>;

    /// Runs one query; at most `limit` of its rows.
    fn fetch<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
        limit: usize,
    ) -> BoxFuture<'t, Result<Vec<Row>, TxError>>;

    /// The driver's own connection, for [`Database`]s with a handle of their own.
    fn native(&mut self) -> &mut (dyn Any + Send);
}

/// What kind of handle a hook asks for.
pub trait Database: 'static {
    /// What the handle lends.
    type Handle: Send + ?Sized + 'static;
    /// The database that it must be, as [`Transaction::database`] says it. None: any.
    const NAME: Option<&'static str>;

    /// The handle, if the transaction is of this database.
    fn handle<'t>(tx: &'t mut (dyn Transaction + 'static)) -> Option<&'t mut Self::Handle>;
}

/// Marks `Tx<'_>`: the same code on every SQL store.
#[derive(Debug)]
pub enum Portable {}

impl Database for Portable {
    type Handle = dyn Transaction;
    const NAME: Option<&'static str> = None;

    fn handle<'t>(tx: &'t mut (dyn Transaction + 'static)) -> Option<&'t mut Self::Handle> {
        Some(tx)
    }
}

/// SQLite, through sqlx.
#[cfg(feature = "sqlite")]
pub use sqlx::Sqlite;

#[cfg(feature = "sqlite")]
impl Database for Sqlite {
    type Handle = sqlx::SqliteConnection;
    const NAME: Option<&'static str> = Some("sqlite");

    fn handle<'t>(tx: &'t mut (dyn Transaction + 'static)) -> Option<&'t mut Self::Handle> {
        tx.native().downcast_mut()
    }
}

/// PostgreSQL, through sqlx.
#[cfg(feature = "postgres")]
pub use sqlx::Postgres;

#[cfg(feature = "postgres")]
impl Database for Postgres {
    type Handle = sqlx::PgConnection;
    const NAME: Option<&'static str> = Some("postgres");

    fn handle<'t>(tx: &'t mut (dyn Transaction + 'static)) -> Option<&'t mut Self::Handle> {
        tx.native().downcast_mut()
    }
}

/// The transaction in which the page is applied.
pub struct Tx<'a, Db: Database = Portable>(&'a mut Db::Handle);

impl<Db: Database> fmt::Debug for Tx<'_, Db> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tx")
    }
}

impl Tx<'_> {
    /// Runs one statement; the number of rows it changed. Placeholders are `$1`, `$2`, ….
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn execute<'t>(
        &'t mut self,
        sql: &'t str,
        params: impl Params,
    ) -> BoxFuture<'t, Result<u64, TxError>> {
        self.0.execute(sql, params.into_values())
    }

    /// The only row. None or several are an error.
    ///
    /// # Errors
    ///
    /// The database's; [`TxError::rows`] if there is not exactly one row; a column that does not fit `R`.
    pub async fn fetch_one<R: FromRow>(
        &mut self,
        sql: &str,
        params: impl Params,
    ) -> Result<R, TxError> {
        self.fetch_optional(sql, params)
            .await?
            .ok_or_else(|| TxError::rows("no row where one was expected"))
    }

    /// The only row, if there is one. Several are an error.
    ///
    /// # Errors
    ///
    /// As [`fetch_one`](Self::fetch_one).
    pub async fn fetch_optional<R: FromRow>(
        &mut self,
        sql: &str,
        params: impl Params,
    ) -> Result<Option<R>, TxError> {
        let mut rows = self.0.fetch(sql, params.into_values(), 2).await?;
        if rows.len() > 1 {
            return Err(TxError::rows("several rows where one was expected"));
        }
        rows.pop().map(R::from_row).transpose()
    }

    /// All rows, in memory.
    ///
    /// # Errors
    ///
    /// The database's; a column that does not fit `R`.
    pub async fn fetch_all<R: FromRow>(
        &mut self,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<R>, TxError> {
        let rows = self.0.fetch(sql, params.into_values(), usize::MAX).await?;
        rows.into_iter().map(R::from_row).collect()
    }
}

#[cfg(feature = "sqlite")]
impl Deref for Tx<'_, Sqlite> {
    type Target = sqlx::SqliteConnection;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

#[cfg(feature = "sqlite")]
impl DerefMut for Tx<'_, Sqlite> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

#[cfg(feature = "postgres")]
impl Deref for Tx<'_, Postgres> {
    type Target = sqlx::PgConnection;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

#[cfg(feature = "postgres")]
impl DerefMut for Tx<'_, Postgres> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

impl<'a, Db: Database> Extract<'a> for Tx<'a, Db> {
    const NEEDS: Needs = Needs::TX;
    const DATABASE: Option<&'static str> = Db::NAME;

    fn extract(cx: &mut HookCx<'a>) -> Result<Self, ExtractError> {
        let tx = cx.take_tx().ok_or(ExtractError::Absent("transaction"))?;
        Db::handle(tx)
            .map(Self)
            .ok_or(ExtractError::Database(Db::NAME.unwrap_or("any kind")))
    }
}

/// What a statement failed with.
#[derive(Debug)]
pub struct TxError {
    class: TxErrorClass,
    source: BoxError,
}

/// Whose fault a [`TxError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TxErrorClass {
    /// The statement, or the data in it.
    Statement,
    /// The moment: a lock, a deadlock, a lost session. Never the change's fault (P26).
    Transient,
    /// A unique constraint: another row has the key.
    Unique,
    /// The values: another constraint forbids them, or the database cannot hold them.
    Values,
    /// The number or the shape of rows.
    Rows,
}

impl TxError {
    /// An error of `class`.
    pub fn new(class: TxErrorClass, source: impl Into<BoxError>) -> Self {
        Self {
            class,
            source: source.into(),
        }
    }

    /// The number or the shape of rows is not what was asked for.
    pub fn rows(message: impl Into<BoxError>) -> Self {
        Self::new(TxErrorClass::Rows, message)
    }

    /// Whose fault it is.
    pub const fn class(&self) -> TxErrorClass {
        self.class
    }
}

impl fmt::Display for TxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl std::error::Error for TxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.source()
    }
}
