//! What PostgreSQL's codes mean: whose fault an error is (P26), and what a person can do about it.

use projectionist::extract::tx::{TxError, TxErrorClass};

use crate::store::StoreError;

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>
mod code {
    pub(super) const UNIQUE: &str = "23505";
    pub(super) const READ_ONLY: &str = "25006";
    pub(super) const NOT_AVAILABLE: &str = "55P03";
    /// The transaction was rolled back, and does not know it yet.
    pub(super) const FAILED: &str = "25P02";
    pub(super) const NO_TRANSACTION: &str = "25P01";
    /// Classes whose whole is the moment's fault: connections, rollbacks by the server, resources, an operator, the system.
    pub(super) const MOMENT: [&str; 5] = ["08", "40", "53", "57", "58"];
    /// Values that do not fit, a zero character in a text among them.
    pub(super) const DATA: &str = "22";
    /// Integrity constraints.
    pub(super) const CONSTRAINT: &str = "23";
    pub(super) const DENIED: &str = "42501";
}

fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

fn is(error: &sqlx::Error, wanted: &str) -> bool {
    code(error).as_deref() == Some(wanted)
}

/// Whether a lock was not to be had in time.
pub(super) fn is_lock_timeout(error: &sqlx::Error) -> bool {
    is(error, code::NOT_AVAILABLE)
}

/// Whether a COMMIT was refused for what was written.
pub(super) fn is_constraint(error: &sqlx::Error) -> bool {
    code(error).is_some_and(|code| code.starts_with(code::CONSTRAINT))
}

/// Whether the transaction is not the one begun any more, or was given up (P6).
pub(super) fn is_broken(error: &sqlx::Error) -> bool {
    is(error, code::FAILED) || is(error, code::NO_TRANSACTION)
}

/// Whether the moment is at fault, never the change (P26).
pub(super) fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        error => code(error).is_some_and(|code| {
            code == code::NOT_AVAILABLE || code::MOMENT.iter().any(|class| code.starts_with(class))
        }),
    }
}

/// Whether the values are at fault: a constraint, or what the database cannot hold.
pub(super) fn is_of_values(error: &sqlx::Error) -> bool {
    is_constraint(error) || code(error).is_some_and(|code| code.starts_with(code::DATA))
}

/// The error of a hook's statement.
pub(super) fn of_statement(error: sqlx::Error) -> TxError {
    let class = if is_transient(&error) {
        TxErrorClass::Transient
    } else if is(&error, code::UNIQUE) {
        TxErrorClass::Unique
    } else if is_of_values(&error) {
        TxErrorClass::Values
    } else {
        TxErrorClass::Statement
    };
    TxError::new(class, error)
}

/// The error of DDL.
pub(super) fn of_ddl(of: &str, store: &str, error: sqlx::Error) -> StoreError {
    if is_transient(&error) {
        return of_store(store, error);
    }
    StoreError::Define {
        of: of.to_owned(),
        source: error.into(),
    }
}

/// Any other.
pub(super) fn of_store(store: &str, error: sqlx::Error) -> StoreError {
    let store = store.to_owned();
    if is_transient(&error) {
        return StoreError::Busy {
            store,
            source: error.into(),
        };
    }
    match code(&error).as_deref() {
        Some(code::READ_ONLY | code::DENIED) => StoreError::ReadOnly {
            store,
            source: error.into(),
        },
        _ => StoreError::Failed {
            store,
            source: error.into(),
        },
    }
}
