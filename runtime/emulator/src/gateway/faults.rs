//! Throttling and faults on demand: which requests are refused, lost or delayed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::answer::Refusal;
use super::asked::Asked;
use super::millis;

/// What is to go wrong.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// So many requests more are throttled.
    throttled: u64,
    retry_after_ms: u64,
    plan: Option<(Plan, fastrand::Rng)>,
}

/// A plan of faults, as `/_control/faults` takes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Plan {
    /// The share of requests that fail, 0 to 1.
    rate: f64,
    /// What decides which.
    #[serde(default)]
    seed: u64,
    /// With which status, each as often as the others.
    #[serde(default = "unavailable")]
    status: Vec<u16>,
    /// Whether the request is carried out and only its answer is lost.
    #[serde(default)]
    lost: bool,
    /// How long a failing request takes.
    #[serde(default)]
    delay_ms: u64,
    /// How many requests fail at most.
    limit: Option<u64>,
}

fn unavailable() -> Vec<u16> {
    vec![503]
}

impl Plan {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if !(0.0..=1.0).contains(&self.rate) {
            return Err(Refusal::bad(format!(
                "\"rate\" is {}, not 0 to 1",
                self.rate
            )));
        }
        match self.status.iter().find(|status| fault(**status).is_none()) {
            Some(status) => Err(Refusal::bad(format!(
                "\"status\" {status} is not one of 408, 410, 413, 429, 449, 500 and 503"
            ))),
            None if self.status.is_empty() => Err(Refusal::bad("\"status\" is empty")),
            None => Ok(()),
        }
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Fate {
    Served(Option<Duration>),
    Refused(Refusal, Option<Duration>),
    /// It is carried out, and then refused.
    Lost(Refusal, Option<Duration>),
}

impl Fate {
    pub(super) const fn delay(&self) -> Option<Duration> {
        match self {
            Self::Served(delay) | Self::Refused(_, delay) | Self::Lost(_, delay) => *delay,
        }
    }
}

fn fault(status: u16) -> Option<Refusal> {
    let (code, substatus, message) = match status {
        408 => ("RequestTimeout", 0, "a timeout, as it was asked for"),
        410 => ("Gone", 1002, "a range that is gone, as it was asked for"),
        413 => (
            "RequestEntityTooLarge",
            0,
            "an answer that would be too large, as it was asked for",
        ),
        429 => (
            "TooManyRequests",
            3200,
            "Request rate is large, as it was asked for",
        ),
        449 => (
            "RetryWith",
            0,
            "a conflict of concurrent requests, as it was asked for",
        ),
        500 => ("InternalServerError", 0, "a defect, as it was asked for"),
        503 => ("ServiceUnavailable", 0, "an outage, as it was asked for"),
        _ => return None,
    };
    let mut refusal = Refusal::new(status, code, message).sub(substatus);
    refusal.retry_after_ms = (status == 429).then_some(10);
    Some(refusal)
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Throttles so many requests.
    pub(super) fn throttle(&self, requests: u64, retry_after_ms: u64) {
        let mut state = self.state();
        state.throttled = requests;
        state.retry_after_ms = retry_after_ms;
    }

    pub(super) fn plan(&self, plan: Plan) {
        let rng = fastrand::Rng::with_seed(plan.seed);
        self.state().plan = (plan.rate > 0.0).then_some((plan, rng));
    }

    /// What becomes of a request: only those about documents fail.
    pub(super) fn fate(&self, asked: &Asked) -> Fate {
        if asked.segments.get(4).map(String::as_str) != Some("docs") {
            return Fate::Served(None);
        }
        let mut state = self.state();
        if state.throttled > 0 {
            state.throttled -= 1;
            let mut refusal = fault(429).expect("it is one of those known");
            refusal.retry_after_ms = Some(state.retry_after_ms);
            return Fate::Refused(refusal, None);
        }
        let Some((plan, rng)) = &mut state.plan else {
            return Fate::Served(None);
        };
        if plan.limit == Some(0) || rng.f64() >= plan.rate {
            return Fate::Served(None);
        }
        if let Some(limit) = &mut plan.limit {
            *limit -= 1;
        }
        let status = plan.status[rng.usize(..plan.status.len())];
        let refusal = fault(status).expect("a plan is checked when it is made");
        let delay = (plan.delay_ms > 0).then(|| millis(plan.delay_ms));
        if plan.lost {
            Fate::Lost(refusal, delay)
        } else {
            Fate::Refused(refusal, delay)
        }
    }
}
