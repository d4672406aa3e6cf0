//! Checkpoints and letters as rows of SQLite.

use std::path::Path;

use sqlx::sqlite::SqliteRow;

use super::{errors, values};
use crate::letters::Letter;
use crate::store::{Checkpoint, StoreError, rows};

pub(super) use crate::store::rows::{checkpoint_columns, letter_columns, signed};

pub(super) fn checkpoint(row: &SqliteRow, path: &Path) -> Result<Checkpoint, StoreError> {
    let cells = values::row(row).map_err(|error| errors::of_store(path, error))?;
    rows::checkpoint(cells, &path.display().to_string())
}

pub(super) fn letter(row: &SqliteRow, path: &Path) -> Result<Letter, StoreError> {
    let cells = values::row(row).map_err(|error| errors::of_store(path, error))?;
    rows::letter(cells, &path.display().to_string())
}
