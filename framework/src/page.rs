//! A page of changes on its way through a projection's hooks.
//!
//! Generated code walks a [`Page`]: for each change that some hook wants it gets the kind and a
//! context, calls the hook, and hands the result back. One boxed future a page, generic code inside.

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::change::{Operation, RawChange};
use crate::extract::ExtractError;
use crate::extract::ctx::DeleteKind;
use crate::extract::state::States;
use crate::extract::tx::Transaction;
use crate::filter::{self, Condition, Set};
use crate::hook::{Answer, Failure, Hook, HookCx, Hooks};
use crate::needs::Kind;
use crate::projection::Spec;
use crate::verdict::{BoxError, Verdict};

/// What is the same for all changes of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageInfo<'a> {
    /// The projection's name.
    pub projection: &'a str,
    /// The collection's identity: part of the idempotency key (P4).
    pub collection: &'a str,
    /// The range that the page was read from.
    pub range_id: &'a str,
    /// Which attempt at this page this is, from 1.
    pub attempt: u32,
    /// Cancelled when the program waits no longer.
    pub cancellation: &'a CancellationToken,
    /// Where the index of the change in hand is published, for whoever watches from outside.
    pub progress: &'a AtomicUsize,
}

/// A page on its way through a projection's hooks. Generated code walks it; the runtime makes it
/// and reads the [`Outcome`].
pub struct Page<'a> {
    changes: &'a [RawChange],
    hooks: &'static Hooks,
    filters: Filters,
    states: &'a States,
    tx: Option<&'a mut (dyn Transaction + 'static)>,
    info: PageInfo<'a>,
    /// The change in hand: its index and its hook's name.
    at: usize,
    hook: &'static str,
    outcome: Outcome,
}

/// What became of a page.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Changes for which a hook ran and succeeded, skips included.
    pub applied: usize,
    /// Changes that no hook wants.
    pub unwanted: usize,
    /// Changes whose document does not decode: dead letters.
    pub undecodable: Vec<Undecodable>,
    /// Where the page stopped early, if it did: nothing of it may be committed.
    pub stopped: Option<Stopped>,
}

/// A change whose document does not decode.
#[derive(Debug)]
pub struct Undecodable {
    /// Its index in the page.
    pub index: usize,
    /// The hook that asked for the document; empty where a filter did.
    pub hook: &'static str,
    /// What is wrong with it.
    pub error: BoxError,
}

/// Where and why a page stopped early.
#[derive(Debug)]
pub struct Stopped {
    /// The index of the change in the page.
    pub index: usize,
    /// The hook.
    pub hook: &'static str,
    /// Why.
    pub reason: StopReason,
}

/// Why a page stopped early.
#[derive(Debug)]
#[non_exhaustive]
pub enum StopReason {
    /// The hook said [`Verdict::RetryAfter`].
    RetryAfter(Duration),
    /// The hook said [`Verdict::Poison`].
    Poison(BoxError),
    /// The hook, or one of its arguments, failed.
    Error(BoxError),
}

impl fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("changes", &self.changes.len())
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl<'a> Page<'a> {
    /// A page of changes for the projection `spec` with these `hooks`.
    pub fn new(
        spec: &'static Spec,
        hooks: &'static Hooks,
        changes: &'a [RawChange],
        states: &'a States,
        tx: Option<&'a mut (dyn Transaction + 'static)>,
        info: PageInfo<'a>,
    ) -> Self {
        Self {
            changes,
            hooks,
            filters: Filters::new(spec, hooks),
            states,
            tx,
            info,
            at: 0,
            hook: "",
            outcome: Outcome::default(),
        }
    }

    /// The next change that some hook wants: the hook's kind, and the context of the call. What no
    /// hook wants counts as handled; what no filter can read is put down as undecodable.
    pub fn advance(&mut self) -> Option<(Kind, HookCx<'_>)> {
        loop {
            let change = self.changes.get(self.at)?;
            self.info.progress.store(self.at, Ordering::Relaxed);
            match self.filters.dispatch(self.hooks, change) {
                Ok(Some((kind, hook, delete))) => {
                    self.hook = hook.name;
                    let cx = HookCx {
                        change,
                        delete,
                        states: self.states,
                        tx: self.tx.as_deref_mut(),
                        info: self.info,
                    };
                    return Some((kind, cx));
                }
                Ok(None) => self.outcome.unwanted += 1,
                Err(error) => self.outcome.undecodable.push(Undecodable {
                    index: self.at,
                    hook: "",
                    error: error.into(),
                }),
            }
            self.at += 1;
        }
    }

    /// Takes the answer of the hook that [`advance`](Self::advance) named. Breaks where the page cannot
    /// go on.
    pub fn settle(&mut self, answer: Answer) -> ControlFlow<()> {
        let reason = match answer {
            Ok(Verdict::Done | Verdict::Skip) => {
                self.outcome.applied += 1;
                self.at += 1;
                return ControlFlow::Continue(());
            }
            // The hook did not run, so there is nothing to roll back: only the letter is due.
            Err(Failure::Argument(ExtractError::Document(error))) => {
                self.outcome.undecodable.push(Undecodable {
                    index: self.at,
                    hook: self.hook,
                    error: error.into(),
                });
                self.at += 1;
                return ControlFlow::Continue(());
            }
            Ok(Verdict::RetryAfter(delay)) => StopReason::RetryAfter(delay),
            Ok(Verdict::Poison(error)) => StopReason::Poison(error),
            Err(Failure::Argument(error)) => StopReason::Error(error.into()),
            Err(Failure::Hook(error)) => StopReason::Error(error),
        };
        self.outcome.stopped = Some(Stopped {
            index: self.at,
            hook: self.hook,
            reason,
        });
        ControlFlow::Break(())
    }

    /// What became of the page.
    pub fn finish(self) -> Outcome {
        self.outcome
    }
}

/// The method that a change goes to, for messages. None: no hook wants it, or no filter can read it.
pub(crate) fn hook_for(spec: &Spec, hooks: &Hooks, change: &RawChange) -> Option<&'static str> {
    let chosen = Filters::new(spec, hooks).dispatch(hooks, change);
    chosen.ok()?.map(|(_, hook, _)| hook.name)
}

/// All conditions of a projection in one list, so that one pass over a document answers them all.
pub(crate) struct Filters {
    conditions: Vec<Condition>,
    only: Set,
    mark: Set,
    /// By [`Kind::index`].
    hooks: [Set; Kind::COUNT],
}

impl Filters {
    pub(crate) fn new(spec: &Spec, hooks: &Hooks) -> Self {
        let mut conditions = Vec::new();
        let mut add = |more: &[Condition]| {
            let before = filter::all(conditions.len());
            conditions.extend_from_slice(more);
            filter::all(conditions.len()) & !before
        };
        let only = add(spec.only);
        let mark = add(spec.soft_delete.as_slice());
        let mut sets = [0; Kind::COUNT];
        for (kind, hook) in hooks.iter() {
            sets[kind.index()] = add(hook.only);
        }
        // The attribute refuses more.
        assert!(
            conditions.len() <= Hooks::MAX_CONDITIONS,
            "projection `{}` has more than {} conditions",
            spec.name,
            Hooks::MAX_CONDITIONS,
        );
        Self {
            conditions,
            only,
            mark,
            hooks: sets,
        }
    }

    /// Whether a change leaves its document a row: it was not deleted, has no mark of a soft delete, and matches.
    pub(crate) fn row(&self, change: &RawChange) -> Result<bool, serde_json::Error> {
        if change.operation == Operation::Delete {
            return Ok(false);
        }
        let holding = match &change.current {
            Some(document) if !self.conditions.is_empty() => {
                filter::scan(&self.conditions, document)?
            }
            Some(_) => 0,
            // Whoever reads the row says that there is nothing to read.
            None => return Ok(true),
        };
        let is_marked = self.mark != 0 && holding & self.mark == self.mark;
        Ok(holding & self.only == self.only && !is_marked)
    }

    /// Which hook a change goes to. A delete that carries no document matches every filter.
    fn dispatch(
        &self,
        hooks: &Hooks,
        change: &RawChange,
    ) -> Result<Option<(Kind, Hook, Option<DeleteKind>)>, serde_json::Error> {
        let document = change.current.as_ref().or(change.previous.as_ref());
        let holding = match document {
            Some(document) if !self.conditions.is_empty() => {
                filter::scan(&self.conditions, document)?
            }
            Some(_) => 0,
            None => Set::MAX,
        };
        let wanted = |conditions: Set| holding & conditions == conditions;
        if !wanted(self.only) {
            return Ok(None);
        }
        let delete = match change.operation {
            Operation::Delete if change.expired => Some(DeleteKind::Expired),
            Operation::Delete => Some(DeleteKind::Hard),
            _ if self.mark != 0 && change.current.is_some() && wanted(self.mark) => {
                Some(DeleteKind::Soft)
            }
            _ => None,
        };
        let chosen = hooks.of(delete, change.operation);
        Ok(chosen
            .filter(|(kind, _)| wanted(self.hooks[kind.index()]))
            .map(|(kind, hook)| (kind, hook, delete)))
    }
}
