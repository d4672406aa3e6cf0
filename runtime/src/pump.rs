//! The reader of one range: read a page, apply it, go on.
//!
//! A pump is a machine without a loop of its own: [`Pump::step`] reads and applies one page and
//! says what to do next. [`Pump::run`] is the loop around it, with the waiting. A pump whose range was split ends, and
//! leaves its lease to those of the children (`pump/division.rs`).

mod division;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use projectionist::needs::Mode;
use projectionist::projection::Start;
use projectionist::verdict::BoxError;
use tokio_util::sync::CancellationToken;

use crate::apply::{Applied, How, Runner, Setback, chain};
use crate::board::Seat;
use crate::clock::after;
use crate::coordination::PumpState;
use crate::engine::Until;
use crate::engine::prepare::start_text;
use crate::feed::{FeedError, FeedPage, From, Read};
use crate::position::Position;
use crate::problem::causes::{feed_problem, store_problem};
use crate::problem::{Problem, codes};
use crate::pulse::Pulse;
use crate::store::{Checkpoint, CommitError, StoreError};

pub(crate) use self::division::needs_a_person;

/// What to do after a step.
#[derive(Debug)]
pub(crate) enum Step {
    /// A page was committed and more is there.
    More(Applied),
    /// Nothing newer was there; the page that said so may have carried changes.
    CaughtUp(Applied),
    /// The same page again after a pause.
    Wait { delay: Duration, why: String },
    /// Not without a person.
    Failed(Problem),
    /// The range was split, and its lease with it: on from here with pumps for the children.
    Split(Vec<Checkpoint>),
    /// The program waits no longer.
    Aborted,
}

/// How a pump ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// As asked, or at the end of the feed.
    Stopped,
    /// Its range was split.
    Split(Vec<Checkpoint>),
}

/// The reader of one range for one projection.
#[derive(Debug)]
pub(crate) struct Pump {
    runner: Arc<Runner>,
    checkpoint: Checkpoint,
    /// The position of the last empty answer, where it is not worth storing: reading goes on from here.
    reached: Option<Position>,
    pulse: Arc<Pulse>,
    /// Failed attempts at the page in hand.
    failures: u32,
    /// Pauses in a row that are nobody's fault.
    pauses: u32,
    /// Lists of ranges in a row that did not show a split that the feed answers by.
    stale: u32,
    /// How often the ranges are still to be looked at, since a page told of others.
    looks: u32,
    /// When they last were.
    looked_at: Option<Timestamp>,
}

impl Pump {
    /// Takes the lease and makes its pump. From here on no earlier owner can commit (I3). None where there is no such
    /// lease any more.
    pub(crate) async fn take(
        runner: Arc<Runner>,
        checkpoint: &Checkpoint,
        pulse: Arc<Pulse>,
    ) -> Result<Option<Self>, StoreError> {
        let taken = runner
            .store
            .take(&checkpoint.lease, runner.clock.now())
            .await?;
        Ok(taken.map(|checkpoint| Self {
            runner,
            checkpoint,
            reached: None,
            pulse,
            failures: 0,
            pauses: 0,
            stale: 0,
            looks: 0,
            looked_at: None,
        }))
    }

    /// Reads one page and applies it.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) async fn step(&mut self) -> Step {
        let page = self.read().await;
        self.pass(page).await
    }

    /// Applies what a read gave.
    async fn pass(&mut self, page: Result<FeedPage, FeedError>) -> Step {
        let page = match page {
            Ok(page) => Arc::new(page),
            Err(error @ FeedError::Gone { .. }) => return self.gone(error).await,
            Err(error) => return self.feed_failed(error),
        };
        self.stale = 0;
        if page.changes.is_empty() && page.unreadable.is_none() && !self.worth_storing(&page) {
            self.failures = 0;
            self.pauses = 0;
            self.reached = Some(page.position.clone());
            return self.passed(&page, Step::CaughtUp(Applied::default())).await;
        }
        let range_id = self.checkpoint.bounds.to_string();
        let applied = self
            .runner
            .apply(
                &mut self.checkpoint,
                &range_id,
                &page,
                self.failures + 1,
                &self.pulse,
            )
            .await;
        match applied {
            Ok(applied) => {
                self.failures = 0;
                self.pauses = 0;
                self.reached = None;
                let step = if page.caught_up {
                    Step::CaughtUp(applied)
                } else {
                    Step::More(applied)
                };
                self.passed(&page, step).await
            }
            Err(setback) => self.set_back(setback).await,
        }
    }

    /// Delivers the next page once without committing it, as if the process had died before.
    #[cfg(feature = "testing")]
    pub(crate) async fn rehearse(&mut self) {
        // What fails here fails again in the step that follows, which tells.
        if let Ok(page) = self.read().await.map(Arc::new) {
            let range_id = self.checkpoint.bounds.to_string();
            let _ = self.runner.rehearse(&range_id, &page, &self.pulse).await;
        }
    }

    /// Pumps for the children, in the place of this one.
    #[cfg(feature = "testing")]
    pub(crate) async fn succeeded(&self, children: &[Checkpoint]) -> Result<Vec<Self>, StoreError> {
        let mut pumps = Vec::with_capacity(children.len());
        for child in children {
            let pulse = Arc::new(Pulse::new(self.pulse.abort.clone()));
            pumps.extend(Self::take(Arc::clone(&self.runner), child, pulse).await?);
        }
        Ok(pumps)
    }

    /// Steps until told to stop, until the end of the feed, or until it fails for good.
    pub(crate) async fn run(
        mut self,
        until: Until,
        stop: &CancellationToken,
        seat: &Seat,
    ) -> Result<Ended, Problem> {
        loop {
            if stop.is_cancelled() {
                return Ok(Ended::Stopped);
            }
            // Whoever asks "caught up?" from here on is answered by a later read.
            let asked = seat.asked();
            seat.enter(PumpState::Running);
            // A read that hangs must not keep the program from ending, and nothing is in hand yet.
            let page = tokio::select! {
                () = stop.cancelled() => return Ok(Ended::Stopped),
                page = self.read() => page,
            };
            match self.pass(page).await {
                Step::More(applied) => {
                    seat.applied(applied);
                    seat.recovered();
                }
                Step::CaughtUp(applied) => {
                    seat.applied(applied);
                    seat.recovered();
                    seat.caught_up(asked);
                    if matches!(until, Until::EndOfFeed { .. }) {
                        return Ok(Ended::Stopped);
                    }
                    seat.enter(PumpState::Idle);
                    self.idle(stop, seat).await;
                }
                Step::Wait { delay, why } => {
                    if until.ends_after(self.tries()) {
                        return Err(self.gave_up(&why));
                    }
                    let until = after(self.runner.clock.now(), delay);
                    tracing::warn!(projection = %self.runner.id.name, range = %self.checkpoint.bounds, attempts = self.failures, retry_in = ?delay, "{why}");
                    seat.wait(self.failures, why, until);
                    tokio::select! {
                        () = stop.cancelled() => {}
                        () = self.runner.clock.sleep(delay) => {}
                    }
                }
                Step::Failed(problem) => return Err(problem),
                Step::Split(children) => return Ok(Ended::Split(children)),
                Step::Aborted => return Ok(Ended::Stopped),
            }
        }
    }

    async fn read(&self) -> Result<FeedPage, FeedError> {
        let from = self
            .position()
            .map_or_else(|| self.beginning(), |at| From::Position(at.clone()));
        let read = Read {
            bounds: &self.checkpoint.bounds,
            mode: self.checkpoint.mode,
            from,
            max_items: self.runner.batch,
        };
        self.runner.feed.read(read).await
    }

    /// Where a range begins of which nothing was read: by the start option that is stored, whatever the settings say by
    /// now (P13).
    fn beginning(&self) -> From {
        let start = &self.checkpoint.start;
        if *start == start_text(Start::Beginning) {
            From::Beginning
        } else if *start == start_text(Start::Now) {
            From::Now
        } else {
            start.parse().map_or(From::Beginning, From::Time)
        }
    }

    /// Where reading goes on.
    fn position(&self) -> Option<&Position> {
        self.reached.as_ref().or(self.checkpoint.position.as_ref())
    }

    /// P12: an empty answer is stored where it is the first, so that the start is durable, and now and then in
    /// all-versions mode, so that a quiet range never looks too old.
    fn worth_storing(&self, page: &FeedPage) -> bool {
        const SHARE: u32 = 8;
        let Some(position) = &self.checkpoint.position else {
            return true;
        };
        let Some(window) = self.runner.feed.retention() else {
            return false;
        };
        let due = after(self.checkpoint.changed_at, window / SHARE);
        self.checkpoint.mode == Mode::AllVersionsAndDeletes
            && *position != page.position
            && self.runner.clock.now() >= due
    }

    /// Waits for something new, or for the next poll.
    async fn idle(&self, stop: &CancellationToken, seat: &Seat) {
        let Some(position) = self.position() else {
            return;
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = seat.nudged() => {}
            () = self.runner.feed.changed(&self.checkpoint.bounds, position) => {}
            () = self.runner.clock.sleep(self.runner.limits.poll) => {}
        }
    }

    async fn set_back(&mut self, setback: Setback) -> Step {
        match setback {
            Setback::RetryAfter { delay, at } => {
                self.failures += 1;
                Step::Wait {
                    // A hook that asks for no pause must not spin either.
                    delay: delay.max(self.runner.limits.backoff_first / 10),
                    why: format!("{at} asks for a pause"),
                }
            }
            Setback::Hook { at, how, error } => {
                let how = match how {
                    How::Poison => "calls it poison",
                    How::Failed => "failed",
                    How::Panicked => "panicked",
                    How::TimedOut => "hung",
                };
                let at = at.map_or_else(|| "the page".to_owned(), |at| at.to_string());
                self.again(format!("{at} {how}: {}", sentence(&error)))
            }
            Setback::Transient(error) => {
                self.pause(format!("the store is busy: {}", sentence(&error)))
            }
            Setback::Store(error @ StoreError::ReadOnly { .. }) => {
                Step::Failed(store_problem(&self.runner.id.name, error))
            }
            Setback::Store(error) => self.pause(sentence(&error.into())),
            Setback::Commit(CommitError::Fenced(lease)) => Step::Failed(Problem::new(
                codes::LEASE_LOST,
                format!(
                    "projection `{}` lost lease {lease} on range {} to another owner",
                    self.runner.id.name, self.checkpoint.bounds
                ),
                "Nothing of the page in hand was stored. Find the other program that runs on this store, and let one of the two go on.",
            )),
            Setback::Commit(error @ (CommitError::Broken | CommitError::Refused(_))) => {
                self.again(sentence(&error.into()))
            }
            Setback::Commit(error) => self.retake(error).await,
            Setback::Aborted => Step::Aborted,
        }
    }

    /// A commit whose outcome is not known: taking the lease anew tells, and ends whatever is
    /// still under way (P6).
    async fn retake(&mut self, error: CommitError) -> Step {
        let lease = &self.checkpoint.lease;
        match self.runner.store.take(lease, self.runner.clock.now()).await {
            Ok(Some(checkpoint)) => {
                self.checkpoint = checkpoint;
                self.reached = None;
                self.pause(sentence(&error.into()))
            }
            Ok(None) => self.vanished().await,
            Err(failed) => self.pause(format!(
                "{}; {}",
                sentence(&error.into()),
                sentence(&failed.into())
            )),
        }
    }

    fn feed_failed(&mut self, error: FeedError) -> Step {
        if error.is_terminal() {
            Step::Failed(feed_problem(&self.runner.id.name, error))
        } else {
            self.pause(sentence(&error.into()))
        }
    }

    /// The page again, after a pause that grows with its failures.
    fn again(&mut self, why: String) -> Step {
        self.failures += 1;
        Step::Wait {
            delay: self.backoff(self.failures),
            why,
        }
    }

    /// The page again, with no attempt counted (P26).
    fn pause(&mut self, why: String) -> Step {
        self.pauses += 1;
        Step::Wait {
            delay: self.backoff(self.pauses),
            why,
        }
    }

    /// Full jitter below a limit that doubles, but never nothing: a page that fails at once must not spin.
    fn backoff(&self, failures: u32) -> Duration {
        let limits = &self.runner.limits;
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(30));
        let limit = limits
            .backoff_first
            .saturating_mul(doubled)
            .min(limits.backoff_max);
        let least = limits.backoff_first / 10;
        (least + self.runner.jitter.below(limit)).min(limits.backoff_max)
    }

    /// Tries in a row that did not get past this page, whoever's fault they were.
    fn tries(&self) -> u32 {
        self.failures.saturating_add(self.pauses)
    }

    fn gave_up(&self, why: &str) -> Problem {
        Problem::new(
            codes::GAVE_UP,
            format!(
                "projection `{}` gave up on range {} after {} attempts: {why}",
                self.runner.id.name,
                self.checkpoint.bounds,
                self.tries()
            ),
            "Mend the cause and run again: it goes on from the last committed page. Without `--once` it would go on trying.",
        )
    }
}

/// An error and its causes in one line.
pub(crate) fn sentence(error: &BoxError) -> String {
    chain(&**error).join(": ")
}

#[cfg(test)]
mod tests;
