//! What every store promises, as cases that run against any of them.
//!
//! A store under test brings a [`Subject`]: the store, and a counter that its transactions add to, which is wrong
//! when an effect is lost or doubled. Each case gets a subject of its own. The number of cases is the same for all.

mod checkpoints;
mod commits;
mod letters;
mod material;
mod races;
mod splits;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use projectionist::verdict::BoxError;

use super::{Effects, Store};

/// A store under test.
pub trait Subject: Send + Sync + 'static {
    /// The store: empty when the subject was made.
    fn store(&self) -> &dyn Store;

    /// Adds to a counter inside a transaction: reads it and writes the sum, so that a lost or doubled effect shows.
    fn add<'t>(
        &'t self,
        effects: &'t mut (dyn Effects + 'static),
        counter: &'t str,
        by: i64,
    ) -> BoxFuture<'t, Result<(), BoxError>>;

    /// What was committed to a counter; 0 where nothing was.
    fn counter<'t>(&'t self, counter: &'t str) -> BoxFuture<'t, Result<i64, BoxError>>;
}

/// A store as the cases share it.
type Shared = Arc<dyn Subject>;

/// How a case ends.
type Outcome = Result<(), BoxError>;

/// One promise.
struct Case {
    name: &'static str,
    run: fn(Shared) -> BoxFuture<'static, Outcome>,
}

/// A list of cases, each by the name of its function.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub(super) const CASES: &[super::Case] = &[$(super::Case {
            name: stringify!($name),
            run: |subject| Box::pin($name(subject)),
        }),*];
    };
}
use cases;

/// Fails the case where a claim does not hold.
macro_rules! claim {
    ($claim:expr, $($text:tt)+) => {
        if !$claim {
            return Err(format!($($text)+).into());
        }
    };
}
use claim;

/// Fails the case where two values differ.
macro_rules! same {
    ($found:expr, $expected:expr) => {
        match (&$found, &$expected) {
            (found, expected) => super::claim!(
                *found == *expected,
                "`{}` is {found:?} and should be {expected:?}",
                stringify!($found)
            ),
        }
    };
}
use same;

fn all() -> impl Iterator<Item = &'static Case> {
    [
        checkpoints::CASES,
        commits::CASES,
        letters::CASES,
        races::CASES,
        splits::CASES,
    ]
    .into_iter()
    .flatten()
}

/// How many cases there are.
pub fn count() -> usize {
    all().count()
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    /// Cases that hold.
    pub passed: Vec<&'static str>,
    /// Cases that do not, and why.
    pub failed: Vec<(&'static str, BoxError)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed } = self;
        let cases = passed.len() + failed.len();
        write!(f, "{cases} cases, {} failed", failed.len())?;
        for (name, error) in failed {
            write!(f, "\n  {name}: {error}")?;
        }
        Ok(())
    }
}

/// Runs all cases, each against a subject that `make` makes for it. It must run on tokio.
pub async fn run<F>(make: impl Fn() -> F) -> Report
where
    F: Future<Output = Result<Arc<dyn Subject>, BoxError>>,
{
    let mut report = Report {
        passed: Vec::new(),
        failed: Vec::new(),
    };
    for case in all() {
        let outcome = match make().await {
            Ok(subject) => (case.run)(subject).await,
            Err(error) => Err(format!("the subject could not be made: {error}").into()),
        };
        match outcome {
            Ok(()) => report.passed.push(case.name),
            Err(error) => report.failed.push((case.name, error)),
        }
    }
    report
}
