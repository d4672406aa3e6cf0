//! Time and chance, passed in: nothing else in the runtime asks the machine for either.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::watch;

/// What tells the time and waits.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// The time of day. Never compared with another host's (I7).
    fn now(&self) -> Timestamp;

    /// Waits.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A clock that stands still until it is moved. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(watch::Sender<Timestamp>);

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self(watch::Sender::new(start))
    }

    /// Moves it forward, and wakes whoever waited for less.
    pub fn advance(&self, by: Duration) {
        self.0.send_modify(|now| *now = after(*now, by));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.borrow()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut time = self.0.subscribe();
        let due = after(self.now(), duration);
        Box::pin(async move {
            if time.wait_for(|now| *now >= due).await.is_err() {
                // The clock is gone and will not move again.
                std::future::pending::<()>().await;
            }
        })
    }
}

/// `by` after `time`, or the end of time.
pub(crate) fn after(time: Timestamp, by: Duration) -> Timestamp {
    time.saturating_add(by).unwrap_or(Timestamp::MAX)
}

/// A seeded source of jitter.
#[derive(Debug)]
pub struct Jitter(Mutex<fastrand::Rng>);

impl Jitter {
    /// A source with this seed.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// Full jitter: anything from nothing to `limit`.
    pub fn below(&self, limit: Duration) -> Duration {
        let share = self.0.lock().unwrap_or_else(PoisonError::into_inner).f64();
        limit.mul_f64(share)
    }
}
