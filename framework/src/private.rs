//! What generated code uses. Nobody else can lean on it: the module's name changes with each version.

pub use inventory;
pub use serde::Deserializer;
pub use serde_json::Error as JsonError;

pub use crate::change::Document;
pub use crate::extract::Extract;
pub use crate::extract::state::States;
pub use crate::extract::tx::BoxFuture;
pub use crate::filter::{Condition, Literal, Test};
pub use crate::hook::{Answer, Failure, Hook, HookCx, Hooks};
pub use crate::needs::{Kind, Mode, Needs};
pub use crate::page::{Outcome, Page};
pub use crate::projection::{Ddl, NoHooks, Projection, Spec, Start};
pub use crate::registry::{Location, ProjectionDef};
pub use crate::row::cell::{AsJson, Probe, with as read_with};
pub use crate::row::decode::{Node, Slots, each as read_each, read as read_slots, take};
pub use crate::row::{Child, Column, OnDelete, Row, Rows, Table, are_apart, put_row};
pub use crate::verdict::{BoxError, IntoVerdict};

/// Says of a type with hooks that it is no projection, if it is none.
pub const fn is_projection<P: Projection>() {}

/// What forces the all-versions mode.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named as the attributes are")]
pub enum Cause {
    OnCreate,
    OnReplace,
    OnDelete,
    OnExpire,
    Previous,
}

impl Cause {
    /// Whether `hooks` have it.
    pub const fn is_in(self, hooks: &Hooks, soft_delete: bool) -> bool {
        match self {
            Self::OnCreate => hooks.on_create.is_some(),
            Self::OnReplace => hooks.on_replace.is_some(),
            Self::OnDelete => hooks.on_delete.is_some() && !soft_delete,
            Self::OnExpire => hooks.on_expire.is_some(),
            Self::Previous => hooks.needs().contains(Needs::PREVIOUS),
        }
    }
}

/// What `init` may return: the projection, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "`init` can't return `{Self}`",
    label = "expected `{P}` or `Result<{P}, E>`"
)]
pub trait IntoProjection<P> {
    /// Converts it.
    ///
    /// # Errors
    ///
    /// Those of `init`.
    fn into_projection(self) -> Result<P, BoxError>;
}

impl<P: Projection> IntoProjection<P> for P {
    fn into_projection(self) -> Result<P, BoxError> {
        Ok(self)
    }
}

impl<P: Projection, E: Into<BoxError>> IntoProjection<P> for Result<P, E> {
    fn into_projection(self) -> Result<P, BoxError> {
        self.map_err(Into::into)
    }
}
