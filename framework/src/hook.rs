//! Hooks, the page they are called for, and the context of one call.
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
use crate::extract::state::{StateKey, States};
use crate::extract::tx::Transaction;
use crate::filter::{self, Condition, Set};
use crate::needs::{Kind, Mode, Needs};
use crate::projection::Spec;
use crate::verdict::{BoxError, Verdict};

/// One hook of a projection, as its attribute declares it.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// The method's name.
    pub name: &'static str,
    /// What its arguments ask for.
    pub needs: Needs,
    /// The states that its arguments look up.
    pub states: &'static [Option<StateKey>],
    /// The databases whose native transaction its arguments take.
    pub databases: &'static [Option<&'static str>],
    /// Its own `only(…)`, beside the projection's.
    pub only: &'static [Condition],
}

/// The hooks of a projection, one at most of each kind.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named as the attributes are")]
pub struct Hooks {
    pub on_upsert: Option<Hook>,
    pub on_create: Option<Hook>,
    pub on_replace: Option<Hook>,
    pub on_delete: Option<Hook>,
    pub on_expire: Option<Hook>,
}

impl Hooks {
    /// All that are declared, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, &Hook)> {
        [
            (Kind::Upsert, &self.on_upsert),
            (Kind::Create, &self.on_create),
            (Kind::Replace, &self.on_replace),
            (Kind::Delete, &self.on_delete),
            (Kind::Expire, &self.on_expire),
        ]
        .into_iter()
        .filter_map(|(kind, hook)| hook.as_ref().map(|hook| (kind, hook)))
    }

    /// Whether there is none at all.
    pub const fn is_empty(&self) -> bool {
        self.on_upsert.is_none()
            && self.on_create.is_none()
            && self.on_replace.is_none()
            && self.on_delete.is_none()
            && self.on_expire.is_none()
    }

    /// What all of them together ask for.
    pub const fn needs(&self) -> Needs {
        let all = [
            &self.on_upsert,
            &self.on_create,
            &self.on_replace,
            &self.on_delete,
            &self.on_expire,
        ];
        let mut needs = Needs::NOTHING;
        let mut i = 0;
        while i < all.len() {
            if let Some(hook) = all[i] {
                needs = needs.or(hook.needs);
            }
            i += 1;
        }
        needs
    }

    /// The hook that takes an operation, which may be a delete of some kind.
    fn of(&self, delete: Option<DeleteKind>, operation: Operation) -> Option<(Kind, Hook)> {
        let upsert = self.on_upsert.map(|hook| (Kind::Upsert, hook));
        let on_delete = self.on_delete.map(|hook| (Kind::Delete, hook));
        match (delete, operation) {
            (Some(DeleteKind::Expired), _) => {
                let expire = self.on_expire.map(|hook| (Kind::Expire, hook));
                expire.or(on_delete)
            }
            (Some(_), _) => on_delete,
            (None, Operation::Create) => self.on_create.map(|hook| (Kind::Create, hook)).or(upsert),
            (None, Operation::Replace) => {
                self.on_replace.map(|hook| (Kind::Replace, hook)).or(upsert)
            }
            (None, _) => upsert,
        }
    }

    /// How many conditions a projection and its hooks may have together.
    #[doc(hidden)]
    pub const MAX_CONDITIONS: usize = Set::BITS as usize;

    /// Whether a projection with these hooks may have so many conditions of its own.
    #[doc(hidden)]
    pub const fn have_room_for(&self, conditions: usize) -> bool {
        const fn count(hook: Option<&Hook>) -> usize {
            match hook {
                Some(hook) => hook.only.len(),
                None => 0,
            }
        }
        let all = conditions
            + count(self.on_upsert.as_ref())
            + count(self.on_create.as_ref())
            + count(self.on_replace.as_ref())
            + count(self.on_delete.as_ref())
            + count(self.on_expire.as_ref());
        all <= Self::MAX_CONDITIONS
    }

    /// The feed mode that gives what they ask for.
    pub const fn mode(&self, soft_delete: bool) -> Mode {
        let hard_deletes = self.on_delete.is_some() && !soft_delete;
        if self.on_create.is_some()
            || self.on_replace.is_some()
            || self.on_expire.is_some()
            || hard_deletes
            || self.needs().contains(Needs::PREVIOUS)
        {
            Mode::AllVersionsAndDeletes
        } else {
            Mode::LatestVersion
        }
    }
}

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

/// What a hook call came to.
pub type Answer = Result<Verdict, Failure>;

/// Why a hook call gave no verdict.
#[derive(Debug)]
pub enum Failure {
    /// An argument could not be had: the hook did not run.
    Argument(ExtractError),
    /// The hook's own error.
    Hook(BoxError),
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
            match self.dispatch(change) {
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

    /// Which hook a change goes to. A delete that carries no document matches every filter.
    fn dispatch(
        &self,
        change: &RawChange,
    ) -> Result<Option<(Kind, Hook, Option<DeleteKind>)>, serde_json::Error> {
        let filters = &self.filters;
        let document = change.current.as_ref().or(change.previous.as_ref());
        let holding = match document {
            Some(document) if !filters.conditions.is_empty() => {
                filter::scan(&filters.conditions, document)?
            }
            Some(_) => 0,
            None => Set::MAX,
        };
        let wanted = |conditions: Set| holding & conditions == conditions;
        if !wanted(filters.only) {
            return Ok(None);
        }
        let delete = match change.operation {
            Operation::Delete if change.expired => Some(DeleteKind::Expired),
            Operation::Delete => Some(DeleteKind::Hard),
            _ if filters.mark != 0 && change.current.is_some() && wanted(filters.mark) => {
                Some(DeleteKind::Soft)
            }
            _ => None,
        };
        let chosen = self.hooks.of(delete, change.operation);
        Ok(chosen
            .filter(|(kind, _)| wanted(filters.hooks[kind.index()]))
            .map(|(kind, hook)| (kind, hook, delete)))
    }
}

/// All conditions of a projection in one list, so that one pass over a document answers them all.
struct Filters {
    conditions: Vec<Condition>,
    only: Set,
    mark: Set,
    /// By [`Kind::index`].
    hooks: [Set; Kind::COUNT],
}

impl Filters {
    fn new(spec: &Spec, hooks: &Hooks) -> Self {
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
}

/// What the arguments of one hook call are taken from.
pub struct HookCx<'a> {
    change: &'a RawChange,
    delete: Option<DeleteKind>,
    states: &'a States,
    tx: Option<&'a mut (dyn Transaction + 'static)>,
    info: PageInfo<'a>,
}

impl<'a> HookCx<'a> {
    /// The change.
    pub const fn change(&self) -> &'a RawChange {
        self.change
    }

    /// Whether this is a delete: a real one, or a write with the mark of `soft_delete`.
    pub const fn is_delete(&self) -> bool {
        self.delete.is_some()
    }

    /// How the document was deleted, if it was.
    pub const fn delete_kind(&self) -> Option<DeleteKind> {
        self.delete
    }

    /// The program's shared values.
    pub const fn states(&self) -> &'a States {
        self.states
    }

    /// What is the same for all changes of the page.
    pub const fn info(&self) -> PageInfo<'a> {
        self.info
    }

    /// The page's transaction, once.
    pub const fn take_tx(&mut self) -> Option<&'a mut (dyn Transaction + 'static)> {
        self.tx.take()
    }
}

impl fmt::Debug for HookCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookCx")
            .field("change", &self.change)
            .finish_non_exhaustive()
    }
}
