//! One lease replaced by several, in one transaction of the file that holds all that correctness needs (P9, P19).
//!
//! The parent's row is deleted rather than marked: then no statement can forget to look at the mark. That nobody makes it
//! anew beside its children is what `create` sees to (I5).

use sqlx::{Connection as _, SqliteConnection};

use super::connect::Writer;
use super::rows::{self, checkpoint_columns, signed};
use super::{Inner, errors};
use crate::crash;
use crate::position::Position;
use crate::store::{Checkpoint, Split, SplitError, StoreError};

/// The compare-and-set: whoever deletes the row is the one who splits.
const RETIRE: &str = concat!(
    "delete from projectionist_checkpoints where lease = $1 and epoch = $2 and version = $3 returning ",
    checkpoint_columns!()
);

const INSERT: &str =
    "insert into projectionist_checkpoints (lease, tenant, collection, name, generation, rid,
    range_min, range_max, mode, epoch, version, start, position, changed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

pub(super) async fn split(store: &Inner, split: &Split) -> Result<Vec<Checkpoint>, SplitError> {
    let failed = |error| errors::of_store(&store.path, error);
    let mut lent = store.writer()?.lend().await.map_err(failed)?;
    lent.conn().begin().await.map_err(failed)?;
    let divided = divide(store, lent.conn(), split).await;
    let children = match divided {
        Ok(children) => children,
        Err(error) => {
            // Closing rolls back; an error means that the connection's thread is gone, and the connection with it.
            let (writer, slot) = lent.into_parts();
            let _ = writer.conn.close().await;
            drop(slot);
            return Err(error);
        }
    };
    crash::point("split-before-commit");
    let committed = lent.conn().commit().await;
    crash::point("split-after-commit");
    #[cfg(test)]
    let committed = if store.lose_answers.load(std::sync::atomic::Ordering::SeqCst) {
        Err(sqlx::Error::WorkerCrashed)
    } else {
        committed
    };
    match committed {
        Ok(()) => {
            lent.give_back();
            Ok(children)
        }
        Err(error) => {
            let (writer, slot) = lent.into_parts();
            let _ = writer.conn.close().await;
            drop(slot);
            if is_done(store, &children).await? {
                Ok(children)
            } else {
                Err(failed(error).into())
            }
        }
    }
}

/// The split inside an open transaction.
async fn divide(
    store: &Inner,
    writer: &mut Writer,
    split: &Split,
) -> Result<Vec<Checkpoint>, SplitError> {
    let failed = |error| errors::of_store(&store.path, error);
    let retired = sqlx::query(RETIRE)
        .bind(split.lease.as_str())
        .bind(signed(split.epoch))
        .bind(signed(split.version))
        .fetch_all(&mut writer.conn)
        .await
        .map_err(failed)?;
    let parent = match retired.first() {
        Some(row) => rows::checkpoint(row, &store.path)?,
        None => return Err(SplitError::Fenced(split.lease.clone())),
    };
    let children = split.divide(&parent)?;
    for child in &children {
        insert(&mut writer.conn, child).await.map_err(failed)?;
    }
    Ok(children)
}

async fn insert(conn: &mut SqliteConnection, child: &Checkpoint) -> Result<(), sqlx::Error> {
    let Checkpoint {
        lease,
        projection,
        rid,
        bounds,
        mode,
        epoch,
        version,
        start,
        position,
        changed_at,
    } = child;
    sqlx::query(INSERT)
        .bind(lease.as_str())
        .bind(&projection.tenant)
        .bind(&projection.collection)
        .bind(&projection.name)
        .bind(projection.generation)
        .bind(rid)
        .bind(&bounds.min)
        .bind(&bounds.max)
        .bind(mode.as_str())
        .bind(signed(*epoch))
        .bind(signed(*version))
        .bind(start)
        .bind(position.as_ref().map(Position::as_str))
        .bind(changed_at.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

/// Whether a COMMIT that was answered with an error, or not at all, happened. The connection that ran it is closed, so
/// nothing is under way any more; and children at the parent's epoch are of this very split, since another owner's taking
/// would have raised it.
async fn is_done(store: &Inner, children: &[Checkpoint]) -> Result<bool, StoreError> {
    let failed = |error| errors::of_store(&store.path, error);
    let mut lent = store.reader.lend().await.map_err(failed)?;
    for child in children {
        let epoch: Option<i64> =
            sqlx::query_scalar("select epoch from projectionist_checkpoints where lease = $1")
                .bind(child.lease.as_str())
                .fetch_optional(lent.conn())
                .await
                .map_err(failed)?;
        if epoch != Some(signed(child.epoch)) {
            lent.give_back();
            return Ok(false);
        }
    }
    lent.give_back();
    Ok(true)
}
