//! What became of a lease's range: whole, a part of a merged one, or split; and its lease with it.
//!
//! Physical ranges come and go; leases are only ever split (P19). So a lease's bounds are those of a physical range, or lie
//! inside one that was merged, or span several and are to be split as these are.

use jiff::Timestamp;
use projectionist::needs::Mode;

use crate::feed::{FeedError, FeedRange};
use crate::position::Bounds;
use crate::store::{Checkpoint, Split, SplitError, Store, StoreError};

/// How bounds lie in the physical ranges that the feed lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// They are those of one range.
    Whole,
    /// They are a part of one range: it was merged.
    Part,
    /// They span several ranges, which cut them into these parts.
    Several(Vec<Bounds>),
    /// The ranges listed do not hold all of them: the list is not to be relied on.
    Unlisted,
}

impl Extent {
    pub(crate) fn of(bounds: &Bounds, ranges: &[FeedRange]) -> Self {
        let mut parts: Vec<_> = ranges
            .iter()
            .filter_map(|range| bounds.inside(&range.bounds))
            .collect();
        parts.sort();
        if !bounds.is_tiled_by(&parts) {
            Self::Unlisted
        } else if parts.len() > 1 {
            Self::Several(parts)
        } else if ranges.iter().any(|range| range.bounds == *bounds) {
            Self::Whole
        } else {
            Self::Part
        }
    }
}

/// The feed's own error where a merge ends what a checkpoint could be read from.
pub(crate) fn merged(checkpoint: &Checkpoint, collection: &str) -> Option<FeedError> {
    (checkpoint.mode == Mode::AllVersionsAndDeletes).then(|| FeedError::Merged {
        collection: collection.to_owned(),
        bounds: checkpoint.bounds.clone(),
    })
}

/// Splits a lease that is owned. Of a try before, whose answer was lost, the children are found.
pub(crate) async fn divide(
    store: &dyn Store,
    owned: &Checkpoint,
    children: Vec<Bounds>,
    at: Timestamp,
) -> Result<Vec<Checkpoint>, SplitError> {
    let split = Split {
        lease: owned.lease.clone(),
        epoch: owned.epoch,
        version: owned.version,
        children,
        at,
    };
    match store.split(&split).await {
        Err(SplitError::Fenced(lease)) => match heirs(store, owned).await? {
            // Another owner's taking would have raised the epoch: these are of this one's own split.
            Some(heirs) if heirs.iter().all(|heir| heir.epoch == owned.epoch) => Ok(heirs),
            _ => Err(SplitError::Fenced(lease)),
        },
        outcome => outcome,
    }
}

/// The leases that a lease was split into, once it is gone itself.
pub(crate) async fn heirs(
    store: &dyn Store,
    parent: &Checkpoint,
) -> Result<Option<Vec<Checkpoint>>, StoreError> {
    let mut heirs = store.checkpoints().await?;
    heirs.retain(|heir| {
        heir.projection == parent.projection
            && heir.lease != parent.lease
            && parent.bounds.contains(&heir.bounds)
    });
    heirs.sort_by(|a, b| a.bounds.cmp(&b.bounds));
    let tiled = parent
        .bounds
        .is_tiled_by(heirs.iter().map(|heir| &heir.bounds));
    Ok(tiled.then_some(heirs))
}

#[cfg(test)]
mod tests {
    use super::Extent;
    use crate::feed::FeedRange;
    use crate::position::Bounds;

    fn bounds(min: &str, max: &str) -> Bounds {
        Bounds {
            min: min.to_owned(),
            max: max.to_owned(),
        }
    }

    fn ranges(parts: &[(&str, &str)]) -> Vec<FeedRange> {
        parts
            .iter()
            .map(|(min, max)| FeedRange {
                id: min.to_string(),
                bounds: bounds(min, max),
            })
            .collect()
    }

    #[test]
    fn bounds_lie_in_the_ranges_listed() {
        let listed = ranges(&[("80", "FF"), ("", "40"), ("40", "80")]);
        let extent = |min, max| Extent::of(&bounds(min, max), &listed);
        assert_eq!(extent("40", "80"), Extent::Whole);
        assert_eq!(extent("90", "A0"), Extent::Part);
        assert_eq!(
            extent("", "80"),
            Extent::Several(vec![bounds("", "40"), bounds("40", "80")])
        );
        assert_eq!(
            extent("20", "90"),
            Extent::Several(vec![
                bounds("20", "40"),
                bounds("40", "80"),
                bounds("80", "90")
            ]),
            "merged, and split elsewhere"
        );
        let gap = ranges(&[("", "40"), ("80", "FF")]);
        assert_eq!(Extent::of(&Bounds::whole(), &gap), Extent::Unlisted);
        assert_eq!(Extent::of(&bounds("40", "80"), &gap), Extent::Unlisted);
        assert_eq!(Extent::of(&Bounds::whole(), &[]), Extent::Unlisted);
    }
}
