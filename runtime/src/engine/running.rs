//! Pumps at work: started, supervised, stopped.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::{Ready, Setup};
use crate::apply::{Applied, Runner};
use crate::board::{Board, Seat};
use crate::clock::Clock;
use crate::coordination::PumpReport;
use crate::lineage::heirs;
use crate::problem::causes::{lease_gone, store_problem};
use crate::problem::{Problem, codes};
use crate::pulse::Pulse;
use crate::pump::{Ended, Pump, needs_a_person};
use crate::reporter::Reporter;
use crate::store::{Checkpoint, StoreError};

/// When pumps end by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never: they wait for more.
    Stopped,
    /// At the end of the feed. So many failures in a row, of a hook, the store or the feed, end a pump with a
    /// problem: a job must end.
    EndOfFeed {
        /// How many times.
        attempts: u32,
    },
}

impl Until {
    /// Whether this many failures in a row are the end.
    pub(crate) const fn ends_after(self, tries: u32) -> bool {
        match self {
            Self::Stopped => false,
            Self::EndOfFeed { attempts } => tries >= attempts,
        }
    }
}

/// What a run came to.
#[derive(Debug, Default)]
pub struct Summary {
    /// Changes for which a hook ran.
    pub applied: u64,
    /// Changes that became dead letters.
    pub letters: u64,
    /// What stopped pumps for good.
    pub failed: Vec<Problem>,
}

/// Pumps at work. Dropped, they go on; stop them first.
#[derive(Debug)]
pub struct Running {
    board: Arc<Board>,
    stop: CancellationToken,
    abort: CancellationToken,
    supervisor: JoinHandle<Vec<Problem>>,
    reporter: Reporter,
}

/// One pump to be kept going.
#[derive(Clone, Debug)]
struct Post {
    runner: Arc<Runner>,
    checkpoint: Checkpoint,
    seat: Arc<Seat>,
    /// Where the seats of its children will be.
    board: Arc<Board>,
    /// Ends all pumps of the projection.
    stop: CancellationToken,
}

impl Running {
    pub(super) fn start(ready: Ready, until: Until) -> Self {
        let Ready { setup, runners, .. } = ready;
        let stop = CancellationToken::new();
        let abort = CancellationToken::new();
        let board = Arc::new(Board::new(Arc::clone(&setup.clock)));
        let mut posts = Vec::new();
        for (runner, checkpoints) in runners {
            let stop = stop.child_token();
            for checkpoint in checkpoints {
                let pulse = Arc::new(Pulse::new(abort.clone()));
                let seat = board.seat(runner.id.clone(), checkpoint.bounds.clone(), pulse);
                posts.push(Post {
                    runner: Arc::clone(&runner),
                    checkpoint,
                    seat,
                    board: Arc::clone(&board),
                    stop: stop.clone(),
                });
            }
        }
        let Setup {
            coordination,
            instance,
            clock,
            limits,
            ..
        } = setup;
        let patience = patience(
            stop.clone(),
            abort.clone(),
            Arc::clone(&clock),
            limits.drain,
        );
        let reporter = Reporter::start(Arc::clone(&board), coordination, instance, clock, limits);
        let supervisor = tokio::spawn(supervise(posts, Arc::clone(&board), until, patience));
        Self {
            board,
            stop,
            abort,
            supervisor,
            reporter,
        }
    }

    /// Asks for an orderly end: no further page is read, those in hand are finished and committed.
    /// What is not done after the drain's limit is rolled back.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// A handle that does the same, for a signal's task.
    pub fn stopper(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// A handle that ends at once, for a signal's task: pages in hand are rolled back.
    pub fn aborter(&self) -> CancellationToken {
        self.abort.clone()
    }

    /// Ends at once: pages in hand are rolled back.
    pub fn abort(&self) {
        self.stop.cancel();
        self.abort.cancel();
    }

    /// Resolves when every living pump has read to the end of its range in a read begun after
    /// this call.
    pub async fn caught_up(&self) {
        self.board.caught_up().await;
    }

    /// What the pumps are doing now.
    pub fn reports(&self) -> Vec<PumpReport> {
        self.board.reports()
    }

    /// Ticks whenever a pump changes its state.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.board.changes()
    }

    /// Waits until all pumps have ended, which without [`stop`](Self::stop) happens only at the end of
    /// the feed or when all have failed.
    pub async fn finished(self) -> Summary {
        let failed = match self.supervisor.await {
            Ok(failed) => failed,
            Err(error) => vec![
                Problem::new(
                    codes::PUMP_PANICKED,
                    "the supervisor ended unexpectedly",
                    "This is a defect; please report it with the log.",
                )
                .because(error),
            ],
        };
        let Applied { hooked, letters } = self.board.total();
        self.reporter.end();
        Summary {
            applied: hooked as u64,
            letters: letters as u64,
            failed,
        }
    }
}

/// How long after an abort a pump may take to end. A hook that blocks its thread cannot be ended
/// from outside; past this it is left behind, and named.
const GRACE: Duration = Duration::from_secs(2);

/// Resolves when pumps have had all the time that a stop gives them, the drain first, then the grace after the abort.
async fn patience(
    stop: CancellationToken,
    abort: CancellationToken,
    clock: Arc<dyn Clock>,
    drain: Duration,
) {
    stop.cancelled().await;
    tokio::select! {
        () = clock.sleep(drain) => {}
        () = abort.cancelled() => {}
    }
    abort.cancel();
    clock.sleep(GRACE).await;
}

/// Keeps every pump going until it ends by itself (I11), or until patience ends. One whose range was split is followed by
/// those of its children.
async fn supervise(
    posts: Vec<Post>,
    board: Arc<Board>,
    until: Until,
    patience: impl Future<Output = ()>,
) -> Vec<Problem> {
    let mut pumps = JoinSet::new();
    let mut problems = Vec::new();
    for post in posts {
        pumps.spawn(post.keep(until));
    }
    tokio::pin!(patience);
    loop {
        tokio::select! {
            ended = pumps.join_next() => match ended {
                Some(Ok(Kept::Ended)) => {}
                Some(Ok(Kept::Failed(problem))) => problems.push(problem),
                Some(Ok(Kept::Split(children))) => {
                    for post in children {
                        pumps.spawn(post.keep(until));
                    }
                }
                // `keep` catches what a pump panics with; this is the runtime going down.
                Some(Err(error)) => tracing::error!("a pump's task ended unexpectedly: {error}"),
                None => return problems,
            },
            () = &mut patience => {
                problems.extend(board.seats().iter().filter(|seat| seat.is_going()).map(blocked));
                pumps.detach_all();
                return problems;
            }
        }
    }
}

/// A pump that did not end in time.
fn blocked(seat: &Arc<Seat>) -> Problem {
    let report = seat.report();
    let place = seat.pulse.place();
    Problem::new(
        codes::HOOK_BLOCKED,
        format!(
            "the pump of projection `{}` on range {} did not end in time: {} blocks its thread",
            report.projection.name,
            report.bounds,
            place.map_or_else(|| "a hook".to_owned(), |place| place.to_string())
        ),
        "Its page is not committed and will be read again. Move blocking work into `tokio::task::spawn_blocking`.",
    )
}

/// What came of a post.
enum Kept {
    Ended,
    Failed(Problem),
    /// Its range was split: the posts of the children.
    Split(Vec<Post>),
}

impl Post {
    /// Runs the pump, and takes the lease anew after a panic of our own.
    async fn keep(self, until: Until) -> Kept {
        let mut falls = 0_u32;
        loop {
            match tokio::spawn(self.clone().once(until)).await {
                Ok(Ok(Ended::Stopped)) => {
                    self.seat.stop();
                    return Kept::Ended;
                }
                Ok(Ok(Ended::Split(children))) => return Kept::Split(self.succeed(children)),
                Ok(Err(problem)) => {
                    let cause = crate::apply::chain(&problem).join(": ");
                    // A job's problems are its result, told at its end; whoever goes on is told now.
                    if until == Until::Stopped {
                        tracing::error!(
                            projection = %self.runner.id.name, collection = %self.runner.def.spec.collection,
                            range = %self.checkpoint.bounds, "{}. {}", cause, problem.help
                        );
                    }
                    self.seat.fail(cause);
                    // What ends one range of a projection ends the projection: half a read model is no read model.
                    self.stop.cancel();
                    return Kept::Failed(problem);
                }
                Err(fall) => {
                    falls = falls.saturating_add(1);
                    if until.ends_after(falls) {
                        let problem = Problem::new(
                            codes::PUMP_PANICKED,
                            format!(
                                "the pump of projection `{}` on range {} panicked {falls} times",
                                self.runner.id.name, self.checkpoint.bounds
                            ),
                            "This is a defect; please report it with the log.",
                        )
                        .because(fall);
                        self.seat.fail(crate::apply::chain(&problem).join(": "));
                        self.stop.cancel();
                        return Kept::Failed(problem);
                    }
                    let delay = self
                        .runner
                        .limits
                        .backoff_max
                        .min(self.runner.limits.backoff_first * falls.min(100));
                    let why = format!("the pump itself panicked: {fall}");
                    tracing::error!(projection = %self.runner.id.name, range = %self.checkpoint.bounds, "{why}");
                    self.seat.wait(
                        falls,
                        why,
                        crate::clock::after(self.runner.clock.now(), delay),
                    );
                    tokio::select! {
                        () = self.stop.cancelled() => {}
                        () = self.runner.clock.sleep(delay) => {}
                    }
                }
            }
        }
    }

    /// Posts for the children of this one's range, in its place.
    fn succeed(&self, children: Vec<Checkpoint>) -> Vec<Self> {
        let bounds = children.iter().map(|child| &child.bounds);
        let seats = self.board.succeed(&self.seat, bounds);
        let posts = children.into_iter().zip(seats);
        posts
            .map(|(checkpoint, seat)| Self {
                checkpoint,
                seat,
                ..self.clone()
            })
            .collect()
    }

    async fn once(self, until: Until) -> Result<Ended, Problem> {
        let mut tries = 0_u32;
        let pump = loop {
            match self.take().await {
                Ok(Taken::Pump(pump)) => break pump,
                Ok(Taken::Heirs(children)) => return Ok(Ended::Split(children)),
                Ok(Taken::Nothing) => {
                    let Self {
                        runner, checkpoint, ..
                    } = &self;
                    return Err(lease_gone(&runner.id.name, &checkpoint.bounds));
                }
                // No waiting mends these: a person must.
                Err(error) if needs_a_person(&error) => {
                    return Err(store_problem(&self.runner.id.name, error));
                }
                Err(error) => {
                    tries = tries.saturating_add(1);
                    if until.ends_after(tries) {
                        return Err(store_problem(&self.runner.id.name, error));
                    }
                    let delay = self.runner.limits.backoff_first;
                    let why = format!(
                        "the lease cannot be taken: {}",
                        crate::apply::chain(&error).join(": ")
                    );
                    tracing::warn!(projection = %self.runner.id.name, range = %self.checkpoint.bounds, "{why}");
                    self.seat
                        .wait(0, why, crate::clock::after(self.runner.clock.now(), delay));
                    tokio::select! {
                        () = self.stop.cancelled() => return Ok(Ended::Stopped),
                        () = self.runner.clock.sleep(delay) => {}
                    }
                }
            }
        };
        pump.run(until, &self.stop, &self.seat).await
    }

    /// Takes the lease, or finds those that it was split into: by this very post, before it panicked.
    async fn take(&self) -> Result<Taken, StoreError> {
        let Self {
            runner, checkpoint, ..
        } = self;
        let pulse = Arc::clone(&self.seat.pulse);
        if let Some(pump) = Pump::take(Arc::clone(runner), checkpoint, pulse).await? {
            return Ok(Taken::Pump(Box::new(pump)));
        }
        let heirs = heirs(&*runner.store, checkpoint).await?;
        Ok(heirs.map_or(Taken::Nothing, Taken::Heirs))
    }
}

/// What there was to take.
enum Taken {
    Pump(Box<Pump>),
    Heirs(Vec<Checkpoint>),
    Nothing,
}
