//! The store's own tables.
//!
//! Their version stands in a row of its own; a later program adds columns and tables, and an earlier
//! one refuses what it does not know.

use std::path::Path;

use sqlx::{SqliteConnection, raw_sql};

use super::errors;
use crate::store::StoreError;

/// The version that this program knows.
pub(super) const VERSION: i64 = 1;

/// Times are text, as people read them; nothing orders or compares by them.
const TABLES: &str = "
create table projectionist_schema (version integer not null) strict;
insert into projectionist_schema (version) values (1);

create table projectionist_checkpoints (
    lease text primary key,
    tenant text not null,
    collection text not null,
    name text not null,
    generation integer not null,
    rid text not null,
    range_min text not null,
    range_max text not null,
    mode text not null,
    epoch integer not null,
    version integer not null,
    start text not null,
    position text,
    changed_at text not null
) strict, without rowid;

create table projectionist_letters (
    id integer primary key autoincrement,
    tenant text not null,
    collection text not null,
    name text not null,
    generation integer not null,
    change_key text not null,
    status text not null,
    revision integer not null default 0,
    lease text not null,
    range_min text not null,
    range_max text not null,
    partition_key text not null,
    document_id text not null,
    sequence integer,
    operation text not null,
    etag text,
    written_at text not null,
    hook text not null,
    errors text not null,
    attempts integer not null,
    failed_at text not null,
    last_failed_at text not null,
    build text not null,
    body blob,
    unique (tenant, collection, name, generation, change_key)
) strict;
";

/// Makes the tables where there are none, and refuses those of another version.
pub(super) async fn ensure(conn: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| errors::of_store(path, error);
    // Also where nothing is to be made: a file that cannot be written to shows here, not at the first page.
    raw_sql("begin immediate")
        .execute(&mut *conn)
        .await
        .map_err(failed)?;
    if version(conn, path).await?.is_none() {
        raw_sql(TABLES).execute(&mut *conn).await.map_err(failed)?;
    }
    raw_sql("commit")
        .execute(&mut *conn)
        .await
        .map_err(failed)?;
    Ok(())
}

/// Refuses tables of another version, and a file without any.
pub(super) async fn check(conn: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    match version(conn, path).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Failed {
            store: path.display().to_string(),
            source: errors::NOTHING_YET.into(),
        }),
    }
}

async fn version(conn: &mut SqliteConnection, path: &Path) -> Result<Option<i64>, StoreError> {
    let failed = |error| errors::of_store(path, error);
    let exists: bool = sqlx::query_scalar(
        "select exists (select 1 from sqlite_schema where type = 'table' and name = 'projectionist_schema')",
    )
    .fetch_one(&mut *conn)
    .await
    .map_err(failed)?;
    if !exists {
        return Ok(None);
    }
    let found: i64 = sqlx::query_scalar("select version from projectionist_schema")
        .fetch_one(&mut *conn)
        .await
        .map_err(failed)?;
    if found == VERSION {
        Ok(Some(found))
    } else {
        Err(StoreError::Schema {
            store: path.display().to_string(),
            found,
            known: VERSION,
        })
    }
}
