//! One lease replaced by several, in one transaction (P19).

use sqlx::{Connection as _, PgConnection};

use super::{Inner, errors, lock_leases, values};
use crate::crash;
use crate::position::Position;
use crate::store::rows::{self, checkpoint_columns, signed};
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
    let failed = |error| errors::of_store(&store.name, error);
    let mut conn = store.pool.acquire().await.map_err(failed)?.detach();
    let mut transaction = conn.begin().await.map_err(failed)?;
    let children = divide(store, &mut transaction, split).await?;
    crash::point("split-before-commit");
    let committed = transaction.commit().await;
    crash::point("split-after-commit");
    #[cfg(test)]
    let committed = if store.lose_answers.load(std::sync::atomic::Ordering::SeqCst) {
        Err(sqlx::Error::WorkerCrashed)
    } else {
        committed
    };
    // The connection was taken out of the pool: closed, it leaves nothing under way.
    let _ = conn.close().await;
    match committed {
        Ok(()) => Ok(children),
        Err(_) if is_done(store, &children).await? => Ok(children),
        Err(error) => Err(failed(error).into()),
    }
}

async fn divide(
    store: &Inner,
    conn: &mut PgConnection,
    split: &Split,
) -> Result<Vec<Checkpoint>, SplitError> {
    let failed = |error| errors::of_store(&store.name, error);
    lock_leases(conn).await.map_err(failed)?;
    let retired = sqlx::query(RETIRE)
        .bind(split.lease.as_str())
        .bind(signed(split.epoch))
        .bind(signed(split.version))
        .fetch_optional(&mut *conn)
        .await
        .map_err(failed)?;
    let parent = match retired {
        Some(row) => rows::checkpoint(values::row(&row).map_err(failed)?, &store.name)?,
        None => return Err(SplitError::Fenced(split.lease.clone())),
    };
    let children = split.divide(&parent)?;
    for child in &children {
        insert(conn, child).await.map_err(failed)?;
    }
    Ok(children)
}

async fn insert(conn: &mut PgConnection, child: &Checkpoint) -> Result<(), sqlx::Error> {
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
        .bind(i64::from(projection.generation))
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

/// Whether a COMMIT that was answered with an error, or not at all, happened. It may still be under way: the lock that it
/// holds is waited for. Children at the parent's epoch are of this very split, since another owner's taking would have
/// raised it.
async fn is_done(store: &Inner, children: &[Checkpoint]) -> Result<bool, StoreError> {
    let failed = |error| errors::of_store(&store.name, error);
    let mut transaction = store.pool.begin().await.map_err(failed)?;
    lock_leases(&mut transaction).await.map_err(failed)?;
    for child in children {
        let epoch: Option<i64> =
            sqlx::query_scalar("select epoch from projectionist_checkpoints where lease = $1")
                .bind(child.lease.as_str())
                .fetch_optional(&mut *transaction)
                .await
                .map_err(failed)?;
        if epoch != Some(signed(child.epoch)) {
            return Ok(false);
        }
    }
    Ok(true)
}
