//! Time and chance, passed in: nothing else in the runtime asks the machine for either.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;

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

/// A clock that stands still until it is moved.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(start)))
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.saturating_add(by).unwrap_or(Timestamp::MAX);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waiting moves the clock: whoever waits is alone with it.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.advance(duration);
        Box::pin(std::future::ready(()))
    }
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
