//! What pumps show of themselves, for whoever watches: the status command, a progress bar, a test.
//!
//! Every pump has a seat. A pump that panics, hangs or waits is a state on its seat, never silence (I11). When a range is
//! split, its seat makes room for those of its children in one step, so that nobody who asks misses one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::{Notify, watch};

use crate::apply::Applied;
use crate::clock::Clock;
use crate::coordination::{PumpReport, PumpState};
use crate::position::{Bounds, ProjectionId};
use crate::pulse::Pulse;

/// All seats.
#[derive(Debug)]
pub(crate) struct Board {
    seats: Mutex<Seats>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Seats {
    taken: Vec<Arc<Seat>>,
    /// How many there ever were.
    made: u64,
    /// What was done on seats that made room for others.
    past: Applied,
}

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    /// The number of the last question "caught up?".
    asked: AtomicU64,
    /// Ticks whenever a seat changes.
    changes: watch::Sender<u64>,
}

/// What one pump shows of itself.
#[derive(Debug)]
pub(crate) struct Seat {
    /// Its number: no other seat ever has it.
    pub(crate) number: u64,
    report: Mutex<PumpReport>,
    applied: AtomicU64,
    letters: AtomicU64,
    /// The number of the last question that a read answered with yes.
    answered: AtomicU64,
    nudge: Notify,
    pub(crate) pulse: Arc<Pulse>,
    shared: Arc<Shared>,
}

impl Board {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            seats: Mutex::default(),
            shared: Arc::new(Shared {
                clock,
                asked: AtomicU64::new(0),
                changes: watch::Sender::new(0),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn seat(
        &self,
        projection: ProjectionId,
        bounds: Bounds,
        pulse: Arc<Pulse>,
    ) -> Arc<Seat> {
        let mut seats = self.lock();
        let seat = seats.make(&self.shared, projection, bounds, pulse);
        seats.taken.push(Arc::clone(&seat));
        seat
    }

    /// Seats for the children of a range that was split, in the place of its own.
    pub(crate) fn succeed<'b>(
        &self,
        parent: &Arc<Seat>,
        children: impl IntoIterator<Item = &'b Bounds>,
    ) -> Vec<Arc<Seat>> {
        let projection = parent.lock().projection.clone();
        let mut seats = self.lock();
        let children: Vec<_> = children
            .into_iter()
            .map(|bounds| {
                let pulse = Arc::new(Pulse::new(parent.pulse.abort.clone()));
                seats.make(&self.shared, projection.clone(), bounds.clone(), pulse)
            })
            .collect();
        let place = seats
            .taken
            .iter()
            .position(|seat| seat.number == parent.number);
        if let Some(place) = place {
            seats.past.hooked += count(&parent.applied);
            seats.past.letters += count(&parent.letters);
            seats
                .taken
                .splice(place..=place, children.iter().map(Arc::clone));
        }
        // Whoever waits looks at the seats: the lock must be free by then.
        drop(seats);
        parent.changed();
        children
    }

    pub(crate) fn seats(&self) -> Vec<Arc<Seat>> {
        self.lock().taken.clone()
    }

    pub(crate) fn reports(&self) -> Vec<PumpReport> {
        self.seats().iter().map(|seat| seat.report()).collect()
    }

    /// What all pumps have done so far, those of ranges that were split since among them.
    pub(crate) fn total(&self) -> Applied {
        let seats = self.lock();
        let mut total = seats.past;
        for seat in &seats.taken {
            total.hooked += count(&seat.applied);
            total.letters += count(&seat.letters);
        }
        total
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Resolves when every living pump has read to the end of its range in a read begun after
    /// this call.
    pub(crate) async fn caught_up(&self) {
        let mut changes = self.changes();
        let question = self.shared.asked.fetch_add(1, Ordering::SeqCst) + 1;
        for seat in self.seats() {
            seat.nudge.notify_one();
        }
        let all = |_: &u64| {
            self.seats().iter().all(|seat| {
                seat.answered.load(Ordering::SeqCst) >= question
                    || matches!(seat.lock().state, PumpState::Failed | PumpState::Stopped)
            })
        };
        // The sender lives in `self`.
        let _ = changes.wait_for(all).await;
    }
}

impl Seats {
    fn make(
        &mut self,
        shared: &Arc<Shared>,
        projection: ProjectionId,
        bounds: Bounds,
        pulse: Arc<Pulse>,
    ) -> Arc<Seat> {
        self.made += 1;
        Arc::new(Seat {
            number: self.made,
            report: Mutex::new(PumpReport {
                projection,
                bounds,
                state: PumpState::Starting,
                since: shared.clock.now(),
                attempts: 0,
                error: String::new(),
                retry_at: None,
                applied: 0,
            }),
            applied: AtomicU64::new(0),
            letters: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            nudge: Notify::new(),
            pulse,
            shared: Arc::clone(shared),
        })
    }
}

fn count(counter: &AtomicU64) -> usize {
    usize::try_from(counter.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
}

impl Seat {
    fn lock(&self) -> MutexGuard<'_, PumpReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.shared.changes.send_modify(|tick| *tick += 1);
    }

    pub(crate) fn report(&self) -> PumpReport {
        PumpReport {
            applied: self.applied.load(Ordering::Relaxed),
            ..self.lock().clone()
        }
    }

    /// The last question "caught up?".
    pub(crate) fn asked(&self) -> u64 {
        self.shared.asked.load(Ordering::SeqCst)
    }

    /// Answers every question up to `asked` with yes.
    pub(crate) fn caught_up(&self, asked: u64) {
        if self.answered.fetch_max(asked, Ordering::SeqCst) < asked {
            self.changed();
        }
    }

    /// Resolves when somebody asks.
    pub(crate) async fn nudged(&self) {
        self.nudge.notified().await;
    }

    pub(crate) fn applied(&self, applied: Applied) {
        self.applied
            .fetch_add(applied.hooked as u64, Ordering::Relaxed);
        self.letters
            .fetch_add(applied.letters as u64, Ordering::Relaxed);
    }

    /// Changes the state; what it waited for is over, except while the page it waits for is tried.
    pub(crate) fn enter(&self, state: PumpState) {
        {
            let mut report = self.lock();
            if report.state == state {
                return;
            }
            // A page that is tried again keeps its error in sight until it succeeds.
            if state == PumpState::Running && report.state == PumpState::Waiting {
                return;
            }
            report.state = state;
            report.since = self.shared.clock.now();
            report.attempts = 0;
            report.error.clear();
            report.retry_at = None;
        }
        self.changed();
    }

    /// A page was committed: whatever it waited for is over.
    pub(crate) fn recovered(&self) {
        let waited = self.lock().state == PumpState::Waiting;
        if waited {
            self.lock().state = PumpState::Starting;
            self.enter(PumpState::Running);
        }
    }

    pub(crate) fn wait(&self, attempts: u32, error: String, retry_at: Timestamp) {
        {
            let mut report = self.lock();
            if report.state != PumpState::Waiting {
                report.since = self.shared.clock.now();
            }
            report.state = PumpState::Waiting;
            report.attempts = attempts;
            report.error = error;
            report.retry_at = Some(retry_at);
        }
        self.changed();
    }

    /// The pump stopped as asked. What it waited for then is not mended by that and stays in sight.
    pub(crate) fn stop(&self) {
        {
            let mut report = self.lock();
            report.state = PumpState::Stopped;
            report.since = self.shared.clock.now();
            report.retry_at = None;
        }
        self.changed();
    }

    /// Whether its pump has not ended.
    pub(crate) fn is_going(&self) -> bool {
        !matches!(self.lock().state, PumpState::Failed | PumpState::Stopped)
    }

    pub(crate) fn fail(&self, error: String) {
        self.enter(PumpState::Failed);
        self.lock().error = error;
        self.changed();
    }
}
