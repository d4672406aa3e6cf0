//! Hooks, which of them takes a change, and the context of one call.

use std::fmt;

use crate::change::{Operation, RawChange};
use crate::extract::ExtractError;
use crate::extract::ctx::DeleteKind;
use crate::extract::state::{StateKey, States};
use crate::extract::tx::Transaction;
use crate::filter::{Condition, Set};
use crate::needs::{Kind, Mode, Needs};
use crate::page::PageInfo;
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
    /// Whether it takes `&self`.
    pub takes_self: bool,
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

    /// Whether any takes `&self`.
    #[doc(hidden)]
    pub const fn take_self(&self) -> bool {
        const fn takes(hook: Option<&Hook>) -> bool {
            match hook {
                Some(hook) => hook.takes_self,
                None => false,
            }
        }
        takes(self.on_upsert.as_ref())
            || takes(self.on_create.as_ref())
            || takes(self.on_replace.as_ref())
            || takes(self.on_delete.as_ref())
            || takes(self.on_expire.as_ref())
    }

    /// The hook that takes an operation, which may be a delete of some kind.
    pub(crate) fn of(
        &self,
        delete: Option<DeleteKind>,
        operation: Operation,
    ) -> Option<(Kind, Hook)> {
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

/// What the arguments of one hook call are taken from.
pub struct HookCx<'a> {
    pub(crate) change: &'a RawChange,
    pub(crate) delete: Option<DeleteKind>,
    pub(crate) states: &'a States,
    pub(crate) tx: Option<&'a mut (dyn Transaction + 'static)>,
    pub(crate) info: PageInfo<'a>,
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
