//! The checkpoints that a projection starts from: those of earlier runs, checked, and new ones.

use projectionist::needs::Mode;
use projectionist::projection::Start;

use super::prepare::{reason, start_text};
use super::{Prepared, Setup};
use crate::feed::{Feed, FeedError, From, Read};
use crate::position::{Bounds, Position, ProjectionId};
use crate::problem::causes::{feed_problem, store_problem};
use crate::problem::{Problem, codes};
use crate::store::{Checkpoint, NewCheckpoint};

/// The projection's checkpoints of earlier runs, found to be of this collection and this mode.
pub(super) async fn standing(
    prepared: &Prepared,
    setup: &Setup,
    id: &ProjectionId,
    notices: &mut Vec<String>,
) -> Result<Vec<Checkpoint>, Problem> {
    let name = prepared.def.spec.name;
    let mut standing = setup
        .store
        .checkpoints()
        .await
        .map_err(|error| store_problem(name, error))?;
    standing.retain(|checkpoint| checkpoint.projection == *id);
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

/// Makes the checkpoints that are missing. A start that was cut off half-way is completed here.
pub(super) async fn complete(
    mut standing: Vec<Checkpoint>,
    prepared: &Prepared,
    setup: &Setup,
    id: &ProjectionId,
) -> Result<Vec<Checkpoint>, Problem> {
    let Prepared { def, feed, .. } = prepared;
    let name = def.spec.name;
    let ranges = feed
        .ranges()
        .await
        .map_err(|error| feed_problem(name, error))?;
    for range in ranges {
        if standing
            .iter()
            .any(|checkpoint| overlap(&checkpoint.bounds, &range.bounds))
        {
            continue;
        }
        // P12, I6: `now` is pinned here, and stored before anything is read.
        let position = match prepared.start {
            Start::Now => Some(
                pin(feed.as_ref(), &range.bounds, def.mode)
                    .await
                    .map_err(|error| feed_problem(name, error))?,
            ),
            _ => None,
        };
        let new = NewCheckpoint {
            projection: id.clone(),
            rid: feed.source().rid.clone(),
            bounds: range.bounds,
            mode: def.mode,
            start: start_text(prepared.start),
            position,
            at: setup.clock.now(),
        };
        let made = setup.store.create(&new).await;
        standing.push(made.map_err(|error| store_problem(name, error))?);
    }
    standing.sort_by(|a, b| a.bounds.cmp(&b.bounds));
    covered(&standing, name)?;
    Ok(standing)
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
    let mut reached = "";
    for checkpoint in checkpoints {
        if checkpoint.bounds.min != reached {
            break;
        }
        reached = &checkpoint.bounds.max;
    }
    if reached == "FF" {
        return Ok(());
    }
    Err(Problem::new(
        codes::RANGES_UNCOVERED,
        format!(
            "the checkpoints of projection `{name}` do not cover the key space: there is a gap or an overlap at {reached:?}"
        ),
        "This is a defect or a damaged store. Keep a copy of it, and give the projection a new name to start anew.",
    ))
}

fn overlap(a: &Bounds, b: &Bounds) -> bool {
    a.min < b.max && b.min < a.max
}
