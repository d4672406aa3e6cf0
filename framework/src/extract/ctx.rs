//! What surrounds a change.

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::{Extract, ExtractError};
use crate::change::RawChange;
use crate::hook::HookCx;
use crate::page::PageInfo;

/// How a document came to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeleteKind {
    /// Somebody deleted it.
    Hard,
    /// Its time to live ran out.
    Expired,
    /// It was written with the mark that `soft_delete(…)` names.
    Soft,
}

/// What surrounds the change: where it stands in the feed, and how often it was tried.
#[derive(Clone, Copy, Debug)]
pub struct Ctx<'a> {
    info: PageInfo<'a>,
    change: &'a RawChange,
    delete: Option<DeleteKind>,
}

impl<'a> Ctx<'a> {
    /// The projection's name.
    pub const fn projection(&self) -> &'a str {
        self.info.projection
    }

    /// The range that the change was read from: the scope of the feed's order. Not a key to
    /// persist: a split replaces it.
    pub const fn range_id(&self) -> &'a str {
        self.info.range_id
    }

    /// The change's sequence number inside its physical partition.
    pub const fn sequence(&self) -> Option<u64> {
        self.change.sequence
    }

    /// When the change was written, in whole seconds on Cosmos DB.
    pub const fn timestamp(&self) -> Timestamp {
        self.change.timestamp
    }

    /// Which attempt at this page this is, from 1.
    pub const fn attempt(&self) -> u32 {
        self.info.attempt
    }

    /// How the document was deleted, if it was.
    pub const fn delete_kind(&self) -> Option<DeleteKind> {
        self.delete
    }

    /// Cancelled when the program stops and will wait no longer: a hook that waits long should
    /// give up then. What it did through `Tx` is rolled back.
    pub const fn cancellation(&self) -> &'a CancellationToken {
        self.info.cancellation
    }
}

impl<'a> Extract<'a> for Ctx<'a> {
    fn extract(cx: &mut HookCx<'a>) -> Result<Self, ExtractError> {
        Ok(Self {
            info: cx.info(),
            change: cx.change(),
            delete: cx.delete_kind(),
        })
    }
}
