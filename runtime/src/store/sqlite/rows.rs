//! Checkpoints and letters as rows.

use std::fmt::Display;
use std::path::Path;

use jiff::Timestamp;
use projectionist::change::Operation;
use projectionist::needs::Mode;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::errors;
use crate::letters::{Letter, LetterStatus, NewLetter};
use crate::position::{Bounds, LeaseId, Position, ProjectionId};
use crate::store::{Checkpoint, StoreError};

/// The columns that [`checkpoint`] reads.
macro_rules! checkpoint_columns {
    () => {
        "lease, tenant, collection, name, generation, rid, range_min, range_max, mode, epoch, version, start, position, changed_at"
    };
}
pub(super) use checkpoint_columns;

/// A row with the file it is of, for errors.
struct Cells<'r> {
    row: &'r SqliteRow,
    path: &'r Path,
}

impl<'r> Cells<'r> {
    fn get<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
    {
        self.row
            .try_get(column)
            .map_err(|error| errors::of_store(self.path, error))
    }

    fn corrupt(&self, what: &'static str, value: impl Display) -> StoreError {
        StoreError::Corrupt {
            store: self.path.display().to_string(),
            what,
            value: value.to_string(),
        }
    }

    fn time(&self, column: &'static str) -> Result<Timestamp, StoreError> {
        let text: String = self.get(column)?;
        text.parse().map_err(|_| self.corrupt(column, text))
    }

    fn number<T: TryFrom<i64>>(&self, column: &'static str) -> Result<T, StoreError> {
        let number: i64 = self.get(column)?;
        T::try_from(number).map_err(|_| self.corrupt(column, number))
    }

    fn projection(&self) -> Result<ProjectionId, StoreError> {
        Ok(ProjectionId {
            tenant: self.get("tenant")?,
            collection: self.get("collection")?,
            name: self.get("name")?,
            generation: self.number("generation")?,
        })
    }

    fn lease(&self) -> Result<LeaseId, StoreError> {
        self.get("lease").map(LeaseId::from_stored)
    }

    fn bounds(&self) -> Result<Bounds, StoreError> {
        Ok(Bounds {
            min: self.get("range_min")?,
            max: self.get("range_max")?,
        })
    }
}

pub(super) fn checkpoint(row: &SqliteRow, path: &Path) -> Result<Checkpoint, StoreError> {
    let cells = Cells { row, path };
    let mode: String = cells.get("mode")?;
    let mode = [Mode::LatestVersion, Mode::AllVersionsAndDeletes]
        .into_iter()
        .find(|known| known.as_str() == mode)
        .ok_or_else(|| cells.corrupt("mode", mode))?;
    Ok(Checkpoint {
        lease: cells.lease()?,
        projection: cells.projection()?,
        rid: cells.get("rid")?,
        bounds: cells.bounds()?,
        mode,
        epoch: cells.number("epoch")?,
        version: cells.number("version")?,
        start: cells.get("start")?,
        position: cells.get::<Option<String>>("position")?.map(Position::new),
        changed_at: cells.time("changed_at")?,
    })
}

pub(super) fn letter(row: &SqliteRow, path: &Path) -> Result<Letter, StoreError> {
    let cells = Cells { row, path };
    let status: String = cells.get("status")?;
    if status != LetterStatus::Dead.as_str() {
        return Err(cells.corrupt("the status of a letter", status));
    }
    let operation: String = cells.get("operation")?;
    let operation = [
        Operation::Upsert,
        Operation::Create,
        Operation::Replace,
        Operation::Delete,
    ]
    .into_iter()
    .find(|known| known.as_str() == operation)
    .ok_or_else(|| cells.corrupt("operation", operation))?;
    let errors: String = cells.get("errors")?;
    let errors = serde_json::from_str(&errors).map_err(|_| cells.corrupt("errors", errors))?;
    let sequence = match cells.get::<Option<i64>>("sequence")? {
        Some(_) => Some(cells.number("sequence")?),
        None => None,
    };
    Ok(Letter {
        id: cells.get("id")?,
        status: LetterStatus::Dead,
        last_failed_at: cells.time("last_failed_at")?,
        content: NewLetter {
            projection: cells.projection()?,
            lease: cells.lease()?,
            bounds: cells.bounds()?,
            key: cells.get("change_key")?,
            partition_key: cells.get("partition_key")?,
            document_id: cells.get("document_id")?,
            sequence,
            operation,
            etag: cells.get("etag")?,
            written_at: cells.time("written_at")?,
            hook: cells.get("hook")?,
            errors,
            attempts: cells.number("attempts")?,
            failed_at: cells.time("failed_at")?,
            build: cells.get("build")?,
            body: cells.get::<Option<Vec<u8>>>("body")?.map(Into::into),
        },
    })
}

/// An unsigned number for a column. Beyond SQLite's greatest it is the greatest: no such epoch or sequence number comes to be.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
