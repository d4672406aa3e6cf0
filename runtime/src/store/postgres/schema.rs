//! The store's own tables, in the first schema of the connection's search path.
//!
//! Their version stands in a row of its own; a later program adds columns and tables, and an earlier one refuses what it
//! does not know.

use sqlx::{PgConnection, PgPool, raw_sql};

use super::{Tables, errors};
use crate::store::StoreError;

/// The version that this program knows.
const VERSION: i64 = 1;

/// Bounds are compared as bytes, whatever the database's language.
const TABLES: &str = r#"
create table projectionist_schema (version bigint not null);
insert into projectionist_schema (version) values (1);

create table projectionist_checkpoints (
    lease text primary key,
    tenant text not null,
    collection text not null,
    name text not null,
    generation bigint not null,
    rid text not null,
    range_min text collate "C" not null,
    range_max text collate "C" not null,
    mode text not null,
    epoch bigint not null,
    version bigint not null,
    start text not null,
    position text,
    changed_at text not null
) with (fillfactor = 50);

create table projectionist_letters (
    id bigint generated always as identity primary key,
    tenant text not null,
    collection text not null,
    name text not null,
    generation bigint not null,
    change_key text not null,
    status text not null,
    revision bigint not null default 0,
    lease text not null,
    range_min text collate "C" not null,
    range_max text collate "C" not null,
    partition_key text not null,
    document_id text not null,
    sequence bigint,
    operation text not null,
    etag text,
    written_at text not null,
    hook text not null,
    errors text not null,
    attempts bigint not null,
    failed_at text not null,
    last_failed_at text not null,
    build text not null,
    body bytea,
    unique (tenant, collection, name, generation, change_key)
);
"#;

/// Makes the tables where there are none and they may be made, and refuses those of another version.
pub(super) async fn ensure(pool: &PgPool, store: &str, tables: Tables) -> Result<(), StoreError> {
    let failed = |error| errors::of_store(store, error);
    let mut transaction = pool.begin().await.map_err(failed)?;
    if tables == Tables::Make {
        // Two programs that start at once make them one after the other.
        raw_sql("select pg_advisory_xact_lock(hashtext('projectionist schema'))")
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
    }
    match version(&mut transaction).await.map_err(failed)? {
        None if tables == Tables::Make => {
            raw_sql(TABLES)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        None | Some(VERSION) => {}
        Some(found) => {
            return Err(StoreError::Schema {
                store: store.to_owned(),
                found,
                known: VERSION,
            });
        }
    }
    transaction.commit().await.map_err(failed)
}

/// Whether there are any.
pub(super) async fn is_there(pool: &PgPool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select to_regclass('projectionist_schema') is not null")
        .fetch_one(pool)
        .await
}

async fn version(conn: &mut PgConnection) -> Result<Option<i64>, sqlx::Error> {
    let exists: bool = sqlx::query_scalar("select to_regclass('projectionist_schema') is not null")
        .fetch_one(&mut *conn)
        .await?;
    if !exists {
        return Ok(None);
    }
    sqlx::query_scalar("select version from projectionist_schema")
        .fetch_one(conn)
        .await
        .map(Some)
}
