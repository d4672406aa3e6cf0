//! The checkpoints that a projection starts from: those of earlier runs, checked, split where their ranges were split
//! since, and new ones.
//!
//! Each step is one transaction, and what it leaves is where the next start goes on: a start can be cut off anywhere.

use std::collections::BTreeSet;
use std::time::Duration;

use projectionist::needs::Mode;
use projectionist::projection::Start;

use super::prepare::{reason, start_text};
use super::{Limits, Prepared, Setup};
use crate::feed::{Feed, FeedError, FeedRange, From, Read};
use crate::lineage::{Extent, divide, merged};
use crate::position::{Bounds, Position, ProjectionId};
use crate::problem::causes::{feed_problem, split_problem, store_problem};
use crate::problem::{Problem, codes};
use crate::store::{Checkpoint, NewCheckpoint, SplitError, StoreError};

/// The projection's checkpoints of earlier runs, found to be of this collection and this mode.
pub(super) async fn standing(
    prepared: &Prepared,
    setup: &Setup,
    id: &ProjectionId,
    notices: &mut Vec<String>,
) -> Result<Vec<Checkpoint>, Problem> {
    let name = prepared.def.spec.name;
    let failed = |error| store_problem(name, error);
    let all = setup.store.checkpoints().await.map_err(failed)?;
    notices.extend(elsewhere(&all, id));
    let standing: Vec<_> = all
        .into_iter()
        .filter(|checkpoint| checkpoint.projection == *id)
        .collect();
    for checkpoint in &standing {
        same_collection(checkpoint, prepared)?;
        same_mode(checkpoint, prepared)?;
    }
    let start = start_text(prepared.start);
    if let Some(checkpoint) = standing.iter().find(|checkpoint| checkpoint.start != start) {
        notices.push(format!(
            "projection `{name}`: `start = {start}` ({}) is ignored, for it has checkpoints, made with `start = {}`",
            prepared.start_origin, checkpoint.start
        ));
    }
    Ok(standing)
}

/// Of a projection that has read other collections: whoever renames a container, or points the settings elsewhere, starts
/// anew there, over the read model of before.
fn elsewhere(all: &[Checkpoint], id: &ProjectionId) -> Option<String> {
    let others: BTreeSet<_> = all
        .iter()
        .map(|checkpoint| &checkpoint.projection)
        .filter(|other| {
            other.name == id.name && other.tenant == id.tenant && other.collection != id.collection
        })
        .map(|other| other.collection.as_str())
        .collect();
    let others: Vec<_> = others.into_iter().collect();
    (!others.is_empty()).then(|| {
        format!(
            "projection `{}` now reads `{}`; this store also holds its checkpoints of `{}`, and what it wrote from there stays in its read model",
            id.name,
            id.collection,
            others.join("`, `")
        )
    })
}

/// So many lists of ranges in a row that the feed's or the store's own answers go against end the start.
const LISTS: u32 = 20;
/// An answer that did not come at all counts for so many: what tries on by itself has waited long enough by then.
const OUTAGE: u32 = 5;

/// Splits the leases whose ranges were split since, and makes the checkpoints that are missing. A start that was cut off
/// half-way is completed here.
pub(super) async fn complete(
    mut standing: Vec<Checkpoint>,
    prepared: &Prepared,
    setup: &Setup,
    id: &ProjectionId,
) -> Result<Vec<Checkpoint>, Problem> {
    let name = prepared.def.spec.name;
    let mut lists = 0;
    loop {
        let added = match prepared.feed.ranges().await {
            Ok(ranges) => {
                standing = divided(standing, &ranges, prepared, setup).await?;
                add(&mut standing, &ranges, prepared, setup, id).await
            }
            Err(error) => Err(Missing::of(error, name)),
        };
        // The list was out of date, or the range was split since: a fresh one tells (P12).
        let (weight, stale) = match added {
            Ok(()) => break,
            Err(Missing::Problem(problem)) => return Err(problem),
            Err(Missing::Stale(problem)) => (1, problem),
            Err(Missing::Unanswered(problem)) => (OUTAGE, problem),
        };
        lists += weight;
        if lists >= LISTS {
            return Err(stale);
        }
        tracing::info!("{stale}: {}", stale.help);
        if lists > 1 {
            setup.clock.sleep(pause(&setup.limits, lists)).await;
        }
        standing = own(setup, id)
            .await
            .map_err(|error| store_problem(name, error))?;
    }
    standing.sort_by(|a, b| a.bounds.cmp(&b.bounds));
    covered(&standing, name)?;
    Ok(standing)
}

/// Doubles with each list, up to the poll.
fn pause(limits: &Limits, lists: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(lists);
    limits
        .backoff_first
        .saturating_mul(doubled)
        .min(limits.poll)
}

/// The projection's checkpoints as they stand.
async fn own(setup: &Setup, id: &ProjectionId) -> Result<Vec<Checkpoint>, StoreError> {
    let mut standing = setup.store.checkpoints().await?;
    standing.retain(|checkpoint| checkpoint.projection == *id);
    Ok(standing)
}

/// Splits the leases whose ranges were split while nobody ran (P13, P19). A merge is terminal in all-versions mode.
async fn divided(
    standing: Vec<Checkpoint>,
    ranges: &[FeedRange],
    prepared: &Prepared,
    setup: &Setup,
) -> Result<Vec<Checkpoint>, Problem> {
    let name = prepared.def.spec.name;
    let mut divided = Vec::with_capacity(standing.len());
    for checkpoint in standing {
        match Extent::of(&checkpoint.bounds, ranges) {
            Extent::Several(parts) => {
                let children = take_apart(&checkpoint, parts, setup).await;
                divided.extend(children.map_err(|error| split_problem(name, error))?);
            }
            Extent::Part => {
                if let Some(error) = merged(&checkpoint, &prepared.feed.source().container) {
                    return Err(feed_problem(name, error));
                }
                divided.push(checkpoint);
            }
            // A list with gaps says nothing; the pump's reads will.
            Extent::Whole | Extent::Unlisted => divided.push(checkpoint),
        }
    }
    Ok(divided)
}

/// Only the owner splits (P19): taken first, no page of an earlier owner comes between.
async fn take_apart(
    checkpoint: &Checkpoint,
    parts: Vec<Bounds>,
    setup: &Setup,
) -> Result<Vec<Checkpoint>, SplitError> {
    let (store, now) = (&*setup.store, setup.clock.now());
    let owned = store.take(&checkpoint.lease, now).await?;
    let owned = owned.ok_or_else(|| SplitError::Fenced(checkpoint.lease.clone()))?;
    divide(store, &owned, parts, now).await
}

/// Why checkpoints are still missing.
enum Missing {
    /// The list of ranges was out of date.
    Stale(Problem),
    /// The service did not answer.
    Unanswered(Problem),
    Problem(Problem),
}

impl Missing {
    fn of(error: FeedError, name: &str) -> Self {
        let kind = match error {
            FeedError::Gone { .. } => Self::Stale,
            FeedError::Unavailable { .. } => Self::Unanswered,
            _ => Self::Problem,
        };
        kind(feed_problem(name, error))
    }
}

/// Makes a checkpoint for each part of the ranges that has none.
async fn add(
    standing: &mut Vec<Checkpoint>,
    ranges: &[FeedRange],
    prepared: &Prepared,
    setup: &Setup,
    id: &ProjectionId,
) -> Result<(), Missing> {
    let Prepared { def, feed, .. } = prepared;
    let name = def.spec.name;
    for range in ranges {
        for bounds in gaps(&range.bounds, standing) {
            // P12, I6: `now` is pinned here, and stored before anything is read.
            let position = match prepared.start {
                Start::Now => {
                    let pinned = pin(feed.as_ref(), &bounds, def.mode).await;
                    Some(pinned.map_err(|error| Missing::of(error, name))?)
                }
                _ => None,
            };
            let new = NewCheckpoint {
                projection: id.clone(),
                rid: feed.source().rid.clone(),
                bounds,
                mode: def.mode,
                start: start_text(prepared.start),
                position,
                at: setup.clock.now(),
            };
            let made = setup.store.create(&new).await;
            standing.push(made.map_err(|error| match error {
                StoreError::Overlap { .. } => Missing::Stale(store_problem(name, error)),
                error => Missing::Problem(store_problem(name, error)),
            })?);
        }
    }
    Ok(())
}

/// The parts of a range that no lease has.
fn gaps(range: &Bounds, standing: &[Checkpoint]) -> Vec<Bounds> {
    let mut taken: Vec<_> = standing
        .iter()
        .filter_map(|checkpoint| checkpoint.bounds.inside(range))
        .collect();
    taken.sort();
    let mut gaps = Vec::new();
    let mut reached = range.min.clone();
    for part in taken {
        if reached < part.min {
            gaps.push(Bounds {
                min: reached.clone(),
                max: part.min,
            });
        }
        reached = reached.max(part.max);
    }
    if reached < range.max {
        gaps.push(Bounds {
            min: reached,
            max: range.max.clone(),
        });
    }
    gaps
}

async fn pin(feed: &dyn Feed, bounds: &Bounds, mode: Mode) -> Result<Position, FeedError> {
    let read = Read {
        bounds,
        mode,
        from: From::Now,
        max_items: 1,
    };
    Ok(feed.read(read).await?.position)
}

/// P1: a checkpoint belongs to the collection of that resource id and to no other.
fn same_collection(checkpoint: &Checkpoint, prepared: &Prepared) -> Result<(), Problem> {
    let source = prepared.feed.source();
    if checkpoint.rid == source.rid {
        return Ok(());
    }
    let name = prepared.def.spec.name;
    Err(Problem::new(
        codes::COLLECTION_RECREATED,
        format!(
            "collection `{}` is not the one that projection `{name}` has checkpoints of: its resource id is {}, not {}; it was recreated, or this is another account",
            prepared.def.spec.collection, source.rid, checkpoint.rid
        ),
        "Point the settings at the collection of before; or give the projection a new name, so that it starts anew; or, for local data, use another `data_dir`.",
    ))
}

/// A position of one mode means nothing in the other.
fn same_mode(checkpoint: &Checkpoint, prepared: &Prepared) -> Result<(), Problem> {
    let def = prepared.def;
    if checkpoint.mode == def.mode {
        return Ok(());
    }
    let why = match def.mode {
        Mode::AllVersionsAndDeletes => format!(", for {}", reason(def)),
        Mode::LatestVersion => String::new(),
    };
    Err(Problem::new(
        codes::MODE_CHANGED,
        format!(
            "projection `{}` has checkpoints of the {} feed, but now needs the {} feed{why} ({})",
            def.spec.name, checkpoint.mode, def.mode, def.location
        ),
        "Give it a new name, so that it starts anew beside the old; or take the change back.",
    ))
}

/// I5: the leases cover the whole key space, and no part of it twice.
fn covered(checkpoints: &[Checkpoint], name: &str) -> Result<(), Problem> {
    let leases = || checkpoints.iter().map(|checkpoint| &checkpoint.bounds);
    if Bounds::whole().is_tiled_by(leases()) {
        return Ok(());
    }
    let leases: Vec<_> = leases().map(ToString::to_string).collect();
    Err(Problem::new(
        codes::RANGES_UNCOVERED,
        format!(
            "the checkpoints of projection `{name}` do not cover the key space: there is a gap or an overlap in {}",
            leases.join(", ")
        ),
        "This is a defect or a damaged store. Keep a copy of it, and give the projection a new name to start anew.",
    ))
}

#[cfg(test)]
mod tests;
