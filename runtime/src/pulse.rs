//! What others may see of a page in hand, and how they end it.
//!
//! A hook that hangs, blocks its thread or panics cannot say which one it is; whoever looks from outside can (I11).

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use projectionist::change::RawChange;
use projectionist::registry::ProjectionDef;
use tokio_util::sync::CancellationToken;

use crate::feed::FeedPage;

/// What others may see of a page in hand, and how they end it.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// The index of the change in hand.
    pub(crate) at: AtomicUsize,
    /// The page whose hooks are running.
    hand: Mutex<Option<Hand>>,
    /// Cancelled when the program waits no longer.
    pub(crate) abort: CancellationToken,
}

#[derive(Debug)]
struct Hand {
    page: Arc<FeedPage>,
    def: &'static ProjectionDef,
}

/// Which change of which hook.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    hook: String,
    document: String,
    partition_key: String,
}

impl Pulse {
    pub(crate) const fn new(abort: CancellationToken) -> Self {
        Self {
            at: AtomicUsize::new(0),
            hand: Mutex::new(None),
            abort,
        }
    }

    fn hand(&self) -> MutexGuard<'_, Option<Hand>> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page's hooks begin to run.
    pub(crate) fn begin(&self, page: &Arc<FeedPage>, def: &'static ProjectionDef) {
        self.at.store(0, Ordering::Relaxed);
        *self.hand() = Some(Hand {
            page: Arc::clone(page),
            def,
        });
    }

    /// They have ended.
    pub(crate) fn end(&self) {
        *self.hand() = None;
    }

    /// The index of the change whose hook is running.
    pub(crate) fn hook_at(&self) -> Option<usize> {
        let is_busy = self.hand().is_some();
        is_busy.then(|| self.at.load(Ordering::Relaxed))
    }

    /// The change whose hook is running.
    pub(crate) fn place(&self) -> Option<Place> {
        let hand = self.hand();
        let Hand { page, def } = hand.as_ref()?;
        let change = page.changes.get(self.at.load(Ordering::Relaxed))?;
        Some(Place::of(change, def.hook_for(change).unwrap_or_default()))
    }
}

impl Place {
    /// A change, and the hook that got it; empty where a filter could not read it.
    pub(crate) fn of(change: &RawChange, hook: &str) -> Self {
        Self {
            hook: hook.to_owned(),
            document: change.id.to_string(),
            partition_key: change.partition_key.to_string(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            hook,
            document,
            partition_key,
        } = self;
        if !hook.is_empty() {
            write!(f, "hook `{hook}` on ")?;
        }
        write!(f, "document `{document}` of partition key {partition_key}")
    }
}
