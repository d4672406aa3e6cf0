//! What a pump does when its range is not one range any more: it splits its lease as the feed's ranges are split, by a list
//! fetched afresh (P13, P19).
//!
//! Only the owner splits, between two pages, in one transaction: before it the parent goes on after a restart, after it the
//! children do.

use super::{Pump, Step, sentence};
use crate::clock::after;
use crate::feed::{FeedError, FeedPage};
use crate::lineage::{Extent, divide, heirs, merged};
use crate::position::Bounds;
use crate::problem::causes::{feed_problem, lease_gone, split_problem, store_problem};
use crate::store::{SplitError, StoreError};

/// So many lists in a row that do not show a split end the projection: about ten minutes, by the default limits.
const STALE_LISTS: u32 = 20;

/// How often a page that tells of other ranges has them looked at.
const LOOKS: u32 = 5;

impl Pump {
    /// The feed answers that the bounds span several ranges.
    pub(super) async fn gone(&mut self, error: FeedError) -> Step {
        let ranges = match self.runner.feed.ranges().await {
            Ok(ranges) => ranges,
            Err(error) => return self.feed_failed(error),
        };
        match Extent::of(&self.checkpoint.bounds, &ranges) {
            Extent::Several(parts) => self.split(parts).await,
            Extent::Part => match merged(&self.checkpoint, self.collection()) {
                Some(merged) => Step::Failed(feed_problem(&self.runner.id.name, merged)),
                None => self.stale_list(error),
            },
            Extent::Whole | Extent::Unlisted => self.stale_list(error),
        }
    }

    /// A page that tells of other ranges has them looked at, a few times at the pace of the poll, for the list may come to
    /// show them later.
    pub(super) async fn passed(&mut self, page: &FeedPage, step: Step) -> Step {
        if page.range_changed {
            self.looks = LOOKS;
        }
        let now = self.runner.clock.now();
        let due = |at| after(at, self.runner.limits.poll) <= now;
        if self.looks == 0 || !self.looked_at.is_none_or(due) {
            return step;
        }
        self.looks -= 1;
        self.looked_at = Some(now);
        match self.runner.feed.ranges().await {
            Ok(ranges) => match Extent::of(&self.checkpoint.bounds, &ranges) {
                Extent::Several(parts) => self.split(parts).await,
                Extent::Whole | Extent::Part | Extent::Unlisted => step,
            },
            Err(error) => {
                // The page is done, and the ranges are looked at again.
                let why = sentence(&error.into());
                tracing::debug!(projection = %self.runner.id.name, range = %self.checkpoint.bounds, "{why}");
                step
            }
        }
    }

    async fn split(&mut self, parts: Vec<Bounds>) -> Step {
        let parent = &self.checkpoint;
        let store = &*self.runner.store;
        match divide(store, parent, parts, self.runner.clock.now()).await {
            Ok(children) => {
                let ranges: Vec<_> = children
                    .iter()
                    .map(|child| child.bounds.to_string())
                    .collect();
                tracing::info!(projection = %self.runner.id.name, range = %parent.bounds, "the range was split, and its lease with it: {}", ranges.join(", "));
                Step::Split(children)
            }
            Err(SplitError::Store(error)) if !needs_a_person(&error) => {
                self.pause(sentence(&error.into()))
            }
            Err(error) => Step::Failed(split_problem(&self.runner.id.name, error)),
        }
    }

    /// The page again, after a list that does not show what the feed answers by.
    fn stale_list(&mut self, error: FeedError) -> Step {
        self.stale += 1;
        if self.stale >= STALE_LISTS {
            return Step::Failed(feed_problem(&self.runner.id.name, error));
        }
        self.pause(format!(
            "{}; the list of its ranges does not show it yet",
            sentence(&error.into())
        ))
    }

    /// The lease is not there any more: it was split, or somebody deleted it.
    pub(super) async fn vanished(&mut self) -> Step {
        match heirs(&*self.runner.store, &self.checkpoint).await {
            Ok(Some(children)) => Step::Split(children),
            Ok(None) => Step::Failed(lease_gone(&self.runner.id.name, &self.checkpoint.bounds)),
            Err(error) if needs_a_person(&error) => {
                Step::Failed(store_problem(&self.runner.id.name, error))
            }
            Err(error) => self.pause(sentence(&error.into())),
        }
    }

    fn collection(&self) -> &str {
        &self.runner.feed.source().container
    }
}

/// Whether no waiting mends it.
pub(crate) const fn needs_a_person(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::ReadOnly { .. } | StoreError::Schema { .. } | StoreError::Corrupt { .. }
    )
}
