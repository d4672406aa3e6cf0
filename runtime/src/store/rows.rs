//! Checkpoints and letters as rows of a database, whichever that is.

use std::fmt::Display;

use jiff::Timestamp;
use projectionist::change::Operation;
use projectionist::needs::Mode;
use projectionist::sql::{FromValue, Row, Value};

use super::{Checkpoint, StoreError};
use crate::letters::{Letter, LetterStatus, NewLetter};
use crate::position::{Bounds, LeaseId, Position, ProjectionId};

/// The columns of a checkpoint, in the order in which [`checkpoint`] reads them.
macro_rules! checkpoint_columns {
    () => {
        "lease, tenant, collection, name, generation, rid, range_min, range_max, mode, epoch, version, start, position, changed_at"
    };
}
pub(super) use checkpoint_columns;

/// The columns of a letter, in the order in which [`letter`] reads them.
macro_rules! letter_columns {
    () => {
        "id, status, last_failed_at, tenant, collection, name, generation, lease, range_min, range_max, change_key, partition_key, document_id, sequence, operation, etag, written_at, hook, errors, attempts, failed_at, build, body"
    };
}
pub(super) use letter_columns;

/// A row's cells, taken from left to right, with the store that it is of, for errors.
struct Cells<'s> {
    cells: std::vec::IntoIter<Value>,
    store: &'s str,
}

impl Cells<'_> {
    fn take<T: FromValue>(&mut self, what: &'static str) -> Result<T, StoreError> {
        let value = self.cells.next().unwrap_or(Value::Null);
        T::from_value(value).map_err(|value| self.corrupt(what, format!("{value:?}")))
    }

    fn corrupt(&self, what: &'static str, value: impl Display) -> StoreError {
        StoreError::Corrupt {
            store: self.store.to_owned(),
            what,
            value: value.to_string(),
        }
    }

    fn time(&mut self, what: &'static str) -> Result<Timestamp, StoreError> {
        let text: String = self.take(what)?;
        text.parse().map_err(|_| self.corrupt(what, text))
    }

    fn number<T: TryFrom<i64>>(&mut self, what: &'static str) -> Result<T, StoreError> {
        let number: i64 = self.take(what)?;
        T::try_from(number).map_err(|_| self.corrupt(what, number))
    }

    fn projection(&mut self) -> Result<ProjectionId, StoreError> {
        Ok(ProjectionId {
            tenant: self.take("tenant")?,
            collection: self.take("collection")?,
            name: self.take("name")?,
            generation: self.number("generation")?,
        })
    }

    fn lease(&mut self) -> Result<LeaseId, StoreError> {
        self.take("lease").map(LeaseId::from_stored)
    }

    fn bounds(&mut self) -> Result<Bounds, StoreError> {
        Ok(Bounds {
            min: self.take("range_min")?,
            max: self.take("range_max")?,
        })
    }
}

/// Reads a checkpoint.
pub(super) fn checkpoint(row: Row, store: &str) -> Result<Checkpoint, StoreError> {
    let mut cells = Cells {
        cells: row.into_iter(),
        store,
    };
    Ok(Checkpoint {
        lease: cells.lease()?,
        projection: cells.projection()?,
        rid: cells.take("rid")?,
        bounds: cells.bounds()?,
        mode: {
            let mode: String = cells.take("mode")?;
            [Mode::LatestVersion, Mode::AllVersionsAndDeletes]
                .into_iter()
                .find(|known| known.as_str() == mode)
                .ok_or_else(|| cells.corrupt("mode", mode))?
        },
        epoch: cells.number("epoch")?,
        version: cells.number("version")?,
        start: cells.take("start")?,
        position: cells.take::<Option<String>>("position")?.map(Position::new),
        changed_at: cells.time("changed_at")?,
    })
}

/// Reads a letter.
pub(super) fn letter(row: Row, store: &str) -> Result<Letter, StoreError> {
    let mut cells = Cells {
        cells: row.into_iter(),
        store,
    };
    let id = cells.take("id")?;
    let status: String = cells.take("status")?;
    if status != LetterStatus::Dead.as_str() {
        return Err(cells.corrupt("the status of a letter", status));
    }
    Ok(Letter {
        id,
        status: LetterStatus::Dead,
        last_failed_at: cells.time("last_failed_at")?,
        content: NewLetter {
            projection: cells.projection()?,
            lease: cells.lease()?,
            bounds: cells.bounds()?,
            key: cells.take("change_key")?,
            partition_key: cells.take("partition_key")?,
            document_id: cells.take("document_id")?,
            sequence: match cells.take::<Option<i64>>("sequence")? {
                None => None,
                Some(number) => {
                    Some(u64::try_from(number).map_err(|_| cells.corrupt("sequence", number))?)
                }
            },
            operation: {
                let operation: String = cells.take("operation")?;
                [
                    Operation::Upsert,
                    Operation::Create,
                    Operation::Replace,
                    Operation::Delete,
                ]
                .into_iter()
                .find(|known| known.as_str() == operation)
                .ok_or_else(|| cells.corrupt("operation", operation))?
            },
            etag: cells.take("etag")?,
            written_at: cells.time("written_at")?,
            hook: cells.take("hook")?,
            errors: {
                let errors: String = cells.take("errors")?;
                serde_json::from_str(&errors).map_err(|_| cells.corrupt("errors", errors))?
            },
            attempts: cells.number("attempts")?,
            failed_at: cells.time("failed_at")?,
            build: cells.take("build")?,
            body: cells.take::<Option<Vec<u8>>>("body")?.map(Into::into),
        },
    })
}

/// An unsigned number for a column. Beyond the database's greatest it is the greatest: no such epoch or sequence number
/// comes to be.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
