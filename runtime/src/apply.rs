//! One page, from the feed's hands into the store: the whole promise in one place.
//!
//! Hooks run, letters are put beside their effects, and the checkpoint advances as the last
//! statement before COMMIT (P6). If anything fails, none of it happened: the page is the unit of
//! commit (P5, I1, I2), and whoever lost the lease cannot commit (I3).

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytestring::ByteString;
use futures_util::FutureExt;
use jiff::Timestamp;
use projectionist::change::{Document, Operation, RawChange};
use projectionist::extract::state::States;
use projectionist::extract::tx::{TxError, TxErrorClass};
use projectionist::key::IdempotencyKey;
use projectionist::needs::Needs;
use projectionist::page::{Outcome, Page, PageInfo, StopReason, Undecodable};
use projectionist::projection::DynProjection;
use projectionist::registry::ProjectionDef;
use projectionist::row::page::RowPage;
use projectionist::verdict::BoxError;

use crate::clock::{Clock, Jitter};
use crate::crash;
use crate::engine::Limits;
use crate::feed::{Feed, FeedPage};
use crate::letters::NewLetter;
use crate::position::ProjectionId;
use crate::pulse::{Place, Pulse};
use crate::store::{Advance, Checkpoint, CommitError, Effects, Store, StoreError};
use crate::table::{TablePlan, groups, write};

/// A projection with everything that its pages need.
pub(crate) struct Runner {
    pub(crate) id: ProjectionId,
    pub(crate) def: &'static ProjectionDef,
    pub(crate) projection: Box<dyn DynProjection>,
    pub(crate) states: States,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) feed: Arc<dyn Feed>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) jitter: Arc<Jitter>,
    pub(crate) limits: Limits,
    pub(crate) batch: u32,
    /// The statements of its table, if it is a row projection.
    pub(crate) table: Option<TablePlan>,
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runner({})", self.id.name)
    }
}

/// A page that was committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Changes for which a hook ran.
    pub(crate) hooked: usize,
    /// Changes that became letters.
    pub(crate) letters: usize,
}

/// Why a page was not committed. Nothing of it happened.
#[derive(Debug)]
pub(crate) enum Setback {
    /// A hook asked for a pause.
    RetryAfter { delay: Duration, at: Place },
    /// A hook failed, in whatever way.
    Hook {
        at: Option<Place>,
        how: How,
        error: BoxError,
    },
    /// Nobody's fault: a lock, a lost session (P26).
    Transient(BoxError),
    /// The store failed.
    Store(StoreError),
    /// The commit failed.
    Commit(CommitError),
    /// The program waits no longer.
    Aborted,
}

/// How a hook failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Failed,
    Poison,
    Panicked,
    TimedOut,
}

impl Runner {
    /// Applies one page and moves `checkpoint` past it.
    pub(crate) async fn apply(
        &self,
        checkpoint: &mut Checkpoint,
        range_id: &str,
        page: &Arc<FeedPage>,
        attempt: u32,
        pulse: &Pulse,
    ) -> Result<Applied, Setback> {
        // Rows are read before the transaction that writes them.
        let rows = self.rows(page)?;
        if let Some(rows) = &rows
            && let Some(written) = self.write_once(rows, checkpoint, page).await
        {
            return written;
        }
        // P9: the transaction begins after the hooks where none of them takes it.
        let wants_tx = self.def.hooks.needs().contains(Needs::TX) || rows.is_some();
        let mut effects = if wants_tx && !page.changes.is_empty() {
            Some(self.begin().await?)
        } else {
            None
        };
        crash::point("before-hooks");
        let ran = self
            .run(rows, effects.as_deref_mut(), range_id, page, attempt, pulse)
            .await;
        let outcome = match ran.and_then(|outcome| self.judge(outcome, page)) {
            Ok(outcome) => outcome,
            Err(setback) => {
                if let Some(effects) = effects {
                    effects.rollback().await;
                }
                return Err(setback);
            }
        };
        let mut effects = match effects {
            Some(effects) => effects,
            None => self.begin().await?,
        };
        let letters = self.letters(&outcome.undecodable, checkpoint, page, attempt);
        if !letters.is_empty()
            && let Err(error) = effects.put(&letters).await
        {
            effects.rollback().await;
            return Err(Setback::of_store(error));
        }
        let advance = self.step(checkpoint, page);
        effects.commit(&advance).await.map_err(Setback::of_commit)?;
        passed(checkpoint, advance);
        for letter in &letters {
            tracing::warn!(
                projection = %self.id.name, document = %letter.document_id, partition_key = %letter.partition_key,
                "the change is now a dead letter (see `dead-letters list`): {}",
                letter.errors.join(": ")
            );
        }
        Ok(Applied {
            hooked: outcome.applied,
            letters: letters.len(),
        })
    }

    fn step(&self, checkpoint: &Checkpoint, page: &FeedPage) -> Advance {
        Advance {
            lease: checkpoint.lease.clone(),
            epoch: checkpoint.epoch,
            version: checkpoint.version,
            position: page.position.clone(),
            at: self.clock.now(),
        }
    }

    /// A page that has nothing but rows, in one statement where the store has such. None: it has more, or some row is
    /// refused; then nothing is stored yet.
    async fn write_once(
        &self,
        rows: &RowPage,
        checkpoint: &mut Checkpoint,
        page: &FeedPage,
    ) -> Option<Result<Applied, Setback>> {
        if !self.def.hooks.is_empty() || page.unreadable.is_some() || page.changes.is_empty() {
            return None;
        }
        let plan = self.table.as_ref()?;
        let (once, groups) = groups(plan, rows, &page.changes)?;
        crash::point("before-hooks");
        let advance = self.step(checkpoint, page);
        let written = self.store.write_once(once, groups, &advance).await?;
        Some(written.map_err(Setback::of_commit).map(|()| {
            passed(checkpoint, advance);
            Applied {
                hooked: rows.written.len() + rows.deleted.len(),
                letters: 0,
            }
        }))
    }

    /// Reads the page's rows, if it is a row projection's. A function of the user's may panic on the way.
    fn rows(&self, page: &FeedPage) -> Result<Option<RowPage>, Setback> {
        let Some(plan) = &self.table else {
            return Ok(None);
        };
        let read = std::panic::catch_unwind(AssertUnwindSafe(|| {
            RowPage::of(
                plan.table,
                &*self.projection,
                self.def.spec,
                self.def.hooks,
                &page.changes,
            )
        }));
        read.map(Some).map_err(|panic| Setback::Hook {
            at: None,
            how: How::Panicked,
            error: panic_text(&*panic).into(),
        })
    }

    /// Writes the page's rows, then runs its hooks.
    async fn run(
        &self,
        rows: Option<RowPage>,
        mut effects: Option<&mut (dyn Effects + 'static)>,
        range_id: &str,
        page: &Arc<FeedPage>,
        attempt: u32,
        pulse: &Pulse,
    ) -> Result<Outcome, Setback> {
        let mut undecodable = Vec::new();
        let mut written = 0;
        if let (Some(rows), Some(plan), Some(effects)) = (rows, &self.table, effects.as_deref_mut())
        {
            let clashes = write(effects, plan, &rows, &page.changes).await;
            let clashes = clashes.map_err(|error| match error.class() {
                TxErrorClass::Transient => Setback::Transient(error.into()),
                _ => Setback::Hook {
                    at: None,
                    how: How::Failed,
                    error: format!("table `{}`: {error}", plan.table.name).into(),
                },
            })?;
            written = rows.written.len() + rows.deleted.len() - clashes.len();
            undecodable = rows.undecodable;
            undecodable.extend(clashes.into_iter().map(|clash| Undecodable {
                index: clash.index,
                hook: "",
                error: clash.reason.into(),
            }));
        }
        if self.def.hooks.is_empty() {
            return Ok(Outcome {
                applied: written,
                undecodable,
                ..Outcome::default()
            });
        }
        let mut outcome = self
            .run_hooks(effects, range_id, page, attempt, pulse)
            .await?;
        // One letter for a change, whoever could not read it.
        let known: Vec<_> = undecodable.iter().map(|found| found.index).collect();
        outcome
            .undecodable
            .retain(|found| !known.contains(&found.index));
        outcome.undecodable.extend(undecodable);
        Ok(outcome)
    }

    /// Runs a page's hooks and rolls back: a delivery whose commit never came, as after a crash.
    #[cfg(feature = "testing")]
    pub(crate) async fn rehearse(
        &self,
        range_id: &str,
        page: &Arc<FeedPage>,
        pulse: &Pulse,
    ) -> Result<(), Setback> {
        let mut effects = self.begin().await?;
        let rows = self.rows(page)?;
        let ran = self
            .run(rows, Some(&mut *effects), range_id, page, 1, pulse)
            .await;
        effects.rollback().await;
        ran.map(drop)
    }

    async fn begin(&self) -> Result<Box<dyn Effects>, Setback> {
        self.store.begin().await.map_err(Setback::of_store)
    }

    /// Runs the page's hooks: one boxed future, watched for a panic, a hang and the end of patience (I11).
    async fn run_hooks(
        &self,
        effects: Option<&mut (dyn Effects + 'static)>,
        range_id: &str,
        page: &Arc<FeedPage>,
        attempt: u32,
        pulse: &Pulse,
    ) -> Result<Outcome, Setback> {
        if page.changes.is_empty() {
            return Ok(Outcome::default());
        }
        let info = PageInfo {
            projection: &self.id.name,
            collection: &self.id.collection,
            range_id,
            attempt,
            cancellation: &pulse.abort,
            progress: &pulse.at,
        };
        let hooks = Page::new(
            self.def.spec,
            self.def.hooks,
            &page.changes,
            &self.states,
            effects.map(|effects| effects as _),
            info,
        );
        pulse.begin(page, self.def);
        let ran = AssertUnwindSafe(self.projection.apply_page(hooks)).catch_unwind();
        let ended = tokio::select! {
            biased;
            () = pulse.abort.cancelled() => Err(Setback::Aborted),
            ran = ran => ran.map_err(|panic| failed(pulse, How::Panicked, panic_text(&*panic))),
            () = self.stuck(pulse) => {
                let limit = self.limits.hook;
                Err(failed(pulse, How::TimedOut, format!("it did not come back within {limit:?}")))
            }
        };
        pulse.end();
        ended
    }

    /// Resolves when one change has been in hand for longer than a hook may take.
    async fn stuck(&self, pulse: &Pulse) {
        // Looking a few times within the limit bounds the overshoot without a timer for each change.
        const LOOKS: u32 = 4;
        let mut seen = usize::MAX;
        let mut same = 0;
        while same < LOOKS {
            let at = pulse.at.load(Ordering::Relaxed);
            same = if at == seen { same + 1 } else { 0 };
            seen = at;
            if same < LOOKS {
                self.clock.sleep(self.limits.hook / LOOKS).await;
            }
        }
    }

    /// Whether the page may be committed.
    fn judge(&self, outcome: Outcome, page: &FeedPage) -> Result<Outcome, Setback> {
        let Some(stopped) = outcome.stopped else {
            return Ok(outcome);
        };
        let at = Place::of(&page.changes[stopped.index], stopped.hook);
        Err(match stopped.reason {
            StopReason::RetryAfter(delay) => Setback::RetryAfter { delay, at },
            StopReason::Poison(error) => Setback::Hook {
                at: Some(at),
                how: How::Poison,
                error,
            },
            StopReason::Error(error) if self.is_transient(&*error) => Setback::Transient(error),
            StopReason::Error(error) => Setback::Hook {
                at: Some(at),
                how: How::Failed,
                error,
            },
            _ => unreachable!("the framework and the runtime have one version"),
        })
    }

    /// P26: a lock or a lost session is never the change's fault, however deep it hides.
    fn is_transient(&self, error: &(dyn Error + 'static)) -> bool {
        let mut link = Some(error);
        while let Some(error) = link {
            let portable = error
                .downcast_ref::<TxError>()
                .is_some_and(|error| error.class() == TxErrorClass::Transient);
            if portable || self.store.is_transient(error) {
                return true;
            }
            link = error.source();
        }
        false
    }

    fn letters(
        &self,
        undecodable: &[Undecodable],
        checkpoint: &Checkpoint,
        page: &FeedPage,
        attempt: u32,
    ) -> Vec<NewLetter> {
        let now = self.clock.now();
        let letter = |change: &RawChange, hook: &str, errors| {
            let body = change.current.as_ref().or(change.previous.as_ref());
            NewLetter {
                projection: self.id.clone(),
                lease: checkpoint.lease.clone(),
                bounds: checkpoint.bounds.clone(),
                key: IdempotencyKey::of(&self.id.name, &self.id.collection, change).to_string(),
                partition_key: change.partition_key.to_string(),
                document_id: change.id.to_string(),
                sequence: change.sequence,
                operation: change.operation,
                etag: change.etag.as_ref().map(ToString::to_string),
                written_at: change.timestamp,
                hook: hook.to_owned(),
                errors,
                attempts: attempt,
                failed_at: now,
                build: env!("CARGO_PKG_VERSION").to_owned(),
                body: body.map(Document::json),
            }
        };
        let unreadable = page.unreadable.iter().map(|error| {
            let what = format!(
                "a change of range {} cannot be read, nor its document's id",
                checkpoint.bounds
            );
            letter(&unnamed(page, now), "", vec![what, error.clone()])
        });
        let undecodable = undecodable.iter().map(|failed| {
            let change = &page.changes[failed.index];
            letter(change, failed.hook, chain(&*failed.error))
        });
        unreadable.chain(undecodable).collect()
    }
}

/// The checkpoint as it stands after a commit.
fn passed(checkpoint: &mut Checkpoint, advance: Advance) {
    checkpoint.version += 1;
    checkpoint.position = Some(advance.position);
    checkpoint.changed_at = advance.at;
}

impl Setback {
    fn of_commit(error: CommitError) -> Self {
        match error {
            CommitError::Store(error) => Self::of_store(error),
            error => Self::Commit(error),
        }
    }

    fn of_store(error: StoreError) -> Self {
        match error {
            StoreError::Busy { source, .. } => Self::Transient(source),
            error => Self::Store(error),
        }
    }
}

/// What is known of a change that the feed's client cannot read: its place alone. That tells it from every other (P4).
fn unnamed(page: &FeedPage, now: Timestamp) -> RawChange {
    RawChange {
        id: ByteString::new(),
        partition_key: ByteString::from_static("[]"),
        operation: Operation::Upsert,
        current: None,
        previous: None,
        etag: Some(page.position.as_str().into()),
        sequence: None,
        ordinal: 0,
        timestamp: now,
        expired: false,
    }
}

/// A failure at the change in hand.
fn failed(pulse: &Pulse, how: How, error: String) -> Setback {
    Setback::Hook {
        at: pulse.place(),
        how,
        error: error.into(),
    }
}

/// An error and its causes, outermost first.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut links = vec![error.to_string()];
    let mut error = error;
    while let Some(source) = error.source() {
        links.push(source.to_string());
        error = source;
    }
    links
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no text)").to_owned()
}
