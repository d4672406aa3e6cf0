//! What SQLite's codes mean: whose fault an error is (P26), and what a person can do about it.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use projectionist::extract::tx::{TxError, TxErrorClass};

use crate::store::StoreError;

/// What is said of a store that is not there.
pub(super) const NOTHING_YET: &str = "it is not there: no projector has run on it yet";

/// Primary result codes, <https://www.sqlite.org/rescode.html>.
mod code {
    pub(super) const ERROR: i32 = 1;
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const NO_MEMORY: i32 = 7;
    pub(super) const READ_ONLY: i32 = 8;
    pub(super) const INTERRUPT: i32 = 9;
    pub(super) const IO: i32 = 10;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANNOT_OPEN: i32 = 14;
    pub(super) const PROTOCOL: i32 = 15;
    pub(super) const TOO_BIG: i32 = 18;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const MISMATCH: i32 = 20;
    /// Extended ones: another row has the key.
    pub(super) const PRIMARY_KEY: i32 = 1555;
    pub(super) const UNIQUE: i32 = 2067;
    /// An extended one: a commit hook said no.
    pub(super) const COMMIT_HOOK: i32 = 531;
}

/// A COMMIT, in a page's transaction or after its end, that the store did not ask for.
#[derive(Debug, thiserror::Error)]
#[error(
    "the statement ends the page's transaction, or comes after its end: BEGIN, COMMIT and ROLLBACK are the projector's alone"
)]
struct Unasked(#[source] sqlx::Error);

/// The extended result code.
fn extended(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

fn primary(error: &sqlx::Error) -> Option<i32> {
    extended(error).map(|code| code & 0xff)
}

/// Whether a COMMIT was refused for what was written, not by the store's own hook.
pub(super) fn is_constraint(error: &sqlx::Error) -> bool {
    primary(error) == Some(code::CONSTRAINT) && extended(error) != Some(code::COMMIT_HOOK)
}

/// Whether the moment is at fault, never the change (P26).
pub(crate) fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::WorkerCrashed | sqlx::Error::Io(_) => true,
        error => matches!(
            primary(error),
            Some(
                code::BUSY
                    | code::LOCKED
                    | code::NO_MEMORY
                    | code::INTERRUPT
                    | code::IO
                    | code::FULL
                    | code::CANNOT_OPEN
                    | code::PROTOCOL
            )
        ),
    }
}

/// Whether the page's savepoint, or the mark set beside it, is gone (P6).
pub(crate) fn is_broken(error: &sqlx::Error) -> bool {
    // Neither has a code of its own.
    primary(error) == Some(code::ERROR)
        && error.as_database_error().is_some_and(|error| {
            let message = error.message();
            message.contains("no such savepoint") || message.contains("projectionist_page")
        })
}

/// The error of a hook's statement.
pub(crate) fn of_statement(error: sqlx::Error) -> TxError {
    if extended(&error) == Some(code::COMMIT_HOOK) {
        return TxError::new(TxErrorClass::Statement, Unasked(error));
    }
    let class = if is_transient(&error) {
        TxErrorClass::Transient
    } else if matches!(extended(&error), Some(code::PRIMARY_KEY | code::UNIQUE)) {
        TxErrorClass::Unique
    } else if matches!(
        primary(&error),
        Some(code::CONSTRAINT | code::TOO_BIG | code::MISMATCH)
    ) {
        TxErrorClass::Values
    } else {
        TxErrorClass::Statement
    };
    TxError::new(class, error)
}

/// The error of DDL.
pub(crate) fn of_ddl(of: &str, path: &Path, error: sqlx::Error) -> StoreError {
    let source = match (extended(&error), primary(&error)) {
        (Some(code::COMMIT_HOOK), _) => Unasked(error).into(),
        (_, Some(code::BUSY | code::LOCKED | code::READ_ONLY)) => return of_store(path, error),
        _ => error.into(),
    };
    StoreError::Define {
        of: of.to_owned(),
        source,
    }
}

/// Why the file could not be opened for writing. SQLite says only that it could not; the system says more.
pub(super) fn of_opening(path: &Path, create: bool, error: sqlx::Error) -> StoreError {
    if primary(&error) != Some(code::CANNOT_OPEN) {
        return of_store(path, error);
    }
    match OpenOptions::new()
        .write(true)
        .create(create)
        .truncate(false)
        .open(path)
    {
        Err(error) if !create && error.kind() == io::ErrorKind::NotFound => StoreError::Failed {
            store: path.display().to_string(),
            source: NOTHING_YET.into(),
        },
        Err(error) => of_io(path, error),
        // The file opens, so it is the directory that takes no file beside it.
        Ok(_) => StoreError::ReadOnly {
            store: path.display().to_string(),
            source: error.into(),
        },
    }
}

/// Why the file could not be opened for reading.
pub(super) fn of_looking(path: &Path, error: sqlx::Error) -> StoreError {
    if primary(&error) == Some(code::CANNOT_OPEN) && !path.exists() {
        return StoreError::Failed {
            store: path.display().to_string(),
            source: NOTHING_YET.into(),
        };
    }
    of_store(path, error)
}

/// An error of the file system.
pub(super) fn of_io(path: &Path, error: io::Error) -> StoreError {
    let store = path.display().to_string();
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly {
                store,
                source: error.into(),
            }
        }
        _ => StoreError::Failed {
            store,
            source: error.into(),
        },
    }
}

/// The error of one of the store's own statements.
pub(crate) fn of_store(path: &Path, error: sqlx::Error) -> StoreError {
    let store = path.display().to_string();
    match primary(&error) {
        Some(code::BUSY | code::LOCKED) => StoreError::Busy {
            store,
            source: error.into(),
        },
        Some(code::READ_ONLY) => StoreError::ReadOnly {
            store,
            source: error.into(),
        },
        _ => StoreError::Failed {
            store,
            source: error.into(),
        },
    }
}
