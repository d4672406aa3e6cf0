//! The arguments that a hook may take, by type and in any order.
//!
//! Extraction never waits: all I/O is done before a hook is called.

pub mod ctx;
pub mod state;
pub mod tx;

use crate::hook::HookCx;
use crate::needs::{Kinds, Needs};
use crate::verdict::BoxError;

use self::state::StateKey;

/// A type that a hook can take as an argument.
#[diagnostic::on_unimplemented(
    message = "a hook can't take `{Self}` as an argument",
    label = "not a hook argument",
    note = "hook arguments are `Change<T>`, `Previous<T>`, `Deleted<T>`, `Operation`, `DocumentId`, \
            `PartitionKey`, `IdempotencyKey`, `Tx<'_>`, `Tx<'_, Sqlite>`, `State<T>`, `Ctx<'_>`, \
            each also as `Option<…>`, and your own types that implement `Extract`"
)]
pub trait Extract<'a>: Sized {
    /// What this argument asks of the feed and the store. Decides the mode at compile time.
    const NEEDS: Needs = Needs::NOTHING;
    /// The kinds of hook that can give it. Elsewhere it must be taken as `Option`.
    const KINDS: Kinds = Kinds::ALL;
    /// The state it looks up, so that a missing one shows at start-up.
    const STATE: Option<StateKey> = None;
    /// The database whose native transaction it takes, so that a wrong one shows at start-up.
    const DATABASE: Option<&'static str> = None;

    /// Takes the argument out of the context.
    ///
    /// # Errors
    ///
    /// If it cannot be had.
    fn extract(cx: &mut HookCx<'a>) -> Result<Self, ExtractError>;

    /// Takes the argument if the change has it. A document that is there but does not decode is
    /// still an error.
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract), but for what is merely absent.
    fn extract_optional(cx: &mut HookCx<'a>) -> Result<Option<Self>, ExtractError> {
        match Self::extract(cx) {
            Ok(argument) => Ok(Some(argument)),
            Err(ExtractError::Absent(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<'a, A: Extract<'a>> Extract<'a> for Option<A> {
    const NEEDS: Needs = A::NEEDS;
    const STATE: Option<StateKey> = A::STATE;
    const DATABASE: Option<&'static str> = A::DATABASE;

    fn extract(cx: &mut HookCx<'a>) -> Result<Self, ExtractError> {
        A::extract_optional(cx)
    }
}

/// Why an argument could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The document is not shaped like the hook's type: a dead letter, whatever the hook.
    #[error("the document does not fit the hook's type")]
    Document(#[source] serde_json::Error),
    /// This change does not carry it.
    #[error("the change carries no {0}")]
    Absent(&'static str),
    /// No such state. The start-up check catches this before the first change.
    #[error("no state of type `{0}`")]
    State(&'static str),
    /// Another database's transaction. The start-up check catches this before the first change.
    #[error("no transaction of {0} here")]
    Database(&'static str),
    /// A user's own argument failed.
    #[error(transparent)]
    Other(#[from] BoxError),
}
