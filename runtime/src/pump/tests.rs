//! The pump's promises, on a scripted feed and the memory store.

mod splits;

use std::ops::ControlFlow;
use std::sync::Mutex;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::change::{Document, Operation, RawChange};
use projectionist::extract::ExtractError;
use projectionist::extract::state::States;
use projectionist::filter::Condition;
use projectionist::hook::{Answer, Failure, Hook, HookCx, Hooks};
use projectionist::needs::Needs;
use projectionist::page::{Outcome, Page};
use projectionist::projection::{DynProjection, Spec};
use projectionist::registry::{Location, ProjectionDef};
use projectionist::verdict::Verdict;

use super::*;
use crate::clock::{Clock, Jitter, ManualClock};
use crate::engine::Limits;
use crate::feed::script::ScriptFeed;
use crate::letters::LetterFilter;
use crate::position::{Bounds, ProjectionId};
use crate::store::memory::MemoryStore;
use crate::store::{NewCheckpoint, Store};

const NO_CONDITIONS: &[Condition] = &[];

/// What the hook does with a change.
type Act = Box<dyn Fn(&RawChange) -> BoxFuture<'static, Answer> + Send + Sync>;

/// A projection of one closure, which writes down what it was called for.
struct Probe {
    act: Act,
    calls: Arc<Mutex<Vec<(String, u32)>>>,
}

impl DynProjection for Probe {
    fn apply_page<'a>(&'a self, mut page: Page<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            while let Some((_, cx)) = page.advance() {
                let answer = self.call(cx).await;
                if page.settle(answer) == ControlFlow::Break(()) {
                    break;
                }
            }
            page.finish()
        })
    }
}

impl Probe {
    async fn call(&self, cx: HookCx<'_>) -> Answer {
        let change = cx.change();
        if let Some(Err(error)) = change
            .current
            .as_ref()
            .map(Document::decode::<serde_json::Value>)
        {
            return Err(Failure::Argument(ExtractError::Document(error)));
        }
        let attempt = cx.info().attempt;
        self.calls
            .lock()
            .expect("no test panics with it")
            .push((change.id.to_string(), attempt));
        (self.act)(change).await
    }
}

static DEF: ProjectionDef = ProjectionDef::of::<Declared>(Location { file: "", line: 0 });

struct Declared;

impl projectionist::projection::Projection for Declared {
    const SPEC: Spec = Spec {
        name: "probe",
        collection: "things",
        only: NO_CONDITIONS,
        soft_delete: None,
        start: None,
        batch: None,
        ddl: None,
        table: None,
    };
    const HOOKS: Hooks = Hooks {
        on_upsert: Some(Hook {
            name: "probe",
            needs: Needs::NOTHING,
            states: &[],
            databases: &[],
            only: NO_CONDITIONS,
            takes_self: false,
        }),
        on_create: None,
        on_replace: None,
        on_delete: None,
        on_expire: None,
    };
    const MODE: Mode = Mode::LatestVersion;

    fn build(_: &States) -> Result<Self, BoxError> {
        Ok(Self)
    }

    fn apply_page<'a>(_: Option<&'a Self>, page: Page<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { page.finish() })
    }
}

struct Rig {
    feed: Arc<ScriptFeed>,
    store: Arc<MemoryStore>,
    clock: ManualClock,
    pump: Pump,
    calls: Arc<Mutex<Vec<(String, u32)>>>,
}

impl Rig {
    async fn new(act: Act) -> Self {
        Self::of(act, Mode::LatestVersion, "beginning", None).await
    }

    async fn of(act: Act, mode: Mode, start: &str, position: Option<Position>) -> Self {
        let feed = Arc::new(ScriptFeed::new("things", None));
        let store = Arc::new(MemoryStore::default());
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let calls = Arc::default();
        let id = ProjectionId {
            tenant: String::new(),
            collection: "script/script/things".to_owned(),
            name: "probe".to_owned(),
            generation: 1,
        };
        let new = NewCheckpoint {
            projection: id.clone(),
            rid: "script".to_owned(),
            bounds: Bounds {
                min: String::new(),
                max: "FF".to_owned(),
            },
            mode,
            start: start.to_owned(),
            position,
            at: clock.now(),
        };
        let checkpoint = store.create(&new).await.unwrap();
        let runner = Runner {
            table: None,
            id,
            def: &DEF,
            projection: Box::new(Probe {
                act,
                calls: Arc::clone(&calls),
            }),
            states: States::default(),
            store: Arc::clone(&store) as _,
            feed: Arc::clone(&feed) as _,
            clock: Arc::new(clock.clone()),
            jitter: Arc::new(Jitter::new(1)),
            limits: Limits::default(),
            batch: 3,
        };
        let pulse = Arc::new(Pulse::new(CancellationToken::new()));
        let pump = Pump::take(Arc::new(runner), &checkpoint, pulse)
            .await
            .unwrap()
            .unwrap();
        Self {
            feed,
            store,
            clock,
            pump,
            calls,
        }
    }

    fn seat(&self) -> Arc<Seat> {
        let board = crate::board::Board::new(Arc::new(self.clock.clone()));
        let checkpoint = &self.pump.checkpoint;
        board.seat(
            checkpoint.projection.clone(),
            checkpoint.bounds.clone(),
            Arc::clone(&self.pump.pulse),
        )
    }

    async fn position(&self) -> Option<String> {
        let all = self.store.checkpoints().await.unwrap();
        all[0].position.as_ref().map(ToString::to_string)
    }

    fn calls(&self) -> Vec<(String, u32)> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

fn done() -> Act {
    Box::new(|_| Box::pin(async { Ok(Verdict::Done) }))
}

fn change(id: &str, body: &str) -> RawChange {
    RawChange {
        id: id.to_owned().into(),
        partition_key: format!("[\"{id}\"]").into(),
        operation: Operation::Upsert,
        current: Some(Document::from_json(body.to_owned().into())),
        previous: None,
        etag: Some(format!("\"{id}\"").into()),
        sequence: Some(1),
        ordinal: 0,
        timestamp: Timestamp::UNIX_EPOCH,
        expired: false,
    }
}

#[tokio::test]
async fn pages_commit_one_by_one_in_order() {
    let mut rig = Rig::new(done()).await;
    rig.feed
        .push(["a", "b", "c", "d"].map(|id| change(id, "{}")));
    assert!(matches!(
        rig.pump.step().await,
        Step::More(Applied {
            hooked: 3,
            letters: 0
        })
    ));
    assert_eq!(rig.position().await.as_deref(), Some("3"));
    assert!(matches!(
        rig.pump.step().await,
        Step::CaughtUp(Applied { hooked: 1, .. })
    ));
    assert_eq!(rig.position().await.as_deref(), Some("4"));
    assert!(matches!(
        rig.pump.step().await,
        Step::CaughtUp(Applied { hooked: 0, .. })
    ));
    let ids: Vec<_> = rig.calls().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
}

/// I1: the checkpoint does not pass a change whose hook failed, also when it was the very first.
#[tokio::test]
async fn a_failing_page_is_read_again_with_a_growing_pause() {
    let act: Act = Box::new(|change| {
        let fails = change.id == "b";
        Box::pin(async move {
            if fails {
                Err(Failure::Hook("no stock".into()))
            } else {
                Ok(Verdict::Done)
            }
        })
    });
    let mut rig = Rig::new(act).await;
    rig.feed.push(["a", "b", "c"].map(|id| change(id, "{}")));
    let mut longest = Duration::ZERO;
    for attempt in 1..=12_u32 {
        let Step::Wait { delay, why } = rig.pump.step().await else {
            panic!("the page must wait");
        };
        longest = longest.max(delay);
        assert!(delay > Duration::ZERO && delay <= Limits::default().backoff_max);
        assert!(
            why.contains("`probe`") && why.contains("`b`") && why.contains("no stock"),
            "{why}"
        );
        assert_eq!(
            rig.calls(),
            [("a".to_owned(), attempt), ("b".to_owned(), attempt)]
        );
        assert_eq!(rig.position().await, None);
    }
    assert!(
        longest > Limits::default().backoff_first * 10,
        "{longest:?}"
    );
}

#[tokio::test]
async fn a_verdict_of_retry_after_sets_the_pause_and_poison_waits_too() {
    let act: Act = Box::new(|change| {
        let poison = change.id == "p";
        Box::pin(async move {
            Ok(if poison {
                Verdict::poison("hopeless")
            } else {
                Verdict::retry_after(Duration::from_secs(7))
            })
        })
    });
    let mut rig = Rig::new(act).await;
    rig.feed.push([change("a", "{}")]);
    let Step::Wait { delay, .. } = rig.pump.step().await else {
        panic!("the page must wait");
    };
    assert_eq!(delay, Duration::from_secs(7));

    let act: Act = Box::new(|_| Box::pin(async { Ok(Verdict::poison("hopeless")) }));
    let mut rig = Rig::new(act).await;
    rig.feed.push([change("p", "{}")]);
    let Step::Wait { why, .. } = rig.pump.step().await else {
        panic!("the page must wait");
    };
    assert!(why.contains("poison: hopeless"), "{why}");
    assert_eq!(rig.position().await, None);
}

#[tokio::test]
async fn a_verdict_of_retry_after_nothing_does_not_spin() {
    let act: Act = Box::new(|_| Box::pin(async { Ok(Verdict::retry_after(Duration::ZERO)) }));
    let mut rig = Rig::new(act).await;
    rig.feed.push([change("a", "{}")]);
    let Step::Wait { delay, .. } = rig.pump.step().await else {
        panic!("the page must wait");
    };
    assert_eq!(delay, Limits::default().backoff_first / 10);
}

/// I11: a panic in a hook is a state, and its page is read again.
#[tokio::test]
async fn a_panic_in_a_hook_rolls_the_page_back() {
    let act: Act = Box::new(|_| Box::pin(async { panic!("ouch") }));
    let mut rig = Rig::new(act).await;
    rig.feed.push([change("a", "{}")]);
    let Step::Wait { why, .. } = rig.pump.step().await else {
        panic!("the page must wait");
    };
    assert!(why.contains("panicked") && why.contains("ouch"), "{why}");
    assert_eq!(rig.position().await, None);
}

/// I11: a hook that does not come back is given up after its limit.
#[tokio::test]
async fn a_hanging_hook_is_given_up() {
    let act: Act = Box::new(|_| Box::pin(std::future::pending()));
    let mut rig = Rig::new(act).await;
    rig.feed.push([change("a", "{}")]);
    let clock = rig.clock.clone();
    let step = {
        let step = rig.pump.step();
        tokio::pin!(step);
        let mut ended = None;
        for _ in 0..8 {
            if let Some(step) = futures_util::FutureExt::now_or_never(step.as_mut()) {
                ended = Some(step);
                break;
            }
            clock.advance(Limits::default().hook / 4);
        }
        ended.expect("the limit has passed")
    };
    let Step::Wait { why, .. } = step else {
        panic!("the page must wait");
    };
    assert!(why.contains("hung") && why.contains("30s"), "{why}");
    assert_eq!(rig.position().await, None);
}

/// I1, P23: the letter of a document that does not decode commits with the checkpoint that passes it.
#[tokio::test]
async fn an_undecodable_document_becomes_a_letter_and_the_feed_goes_on() {
    let mut rig = Rig::new(done()).await;
    rig.feed.push([
        change("a", "{}"),
        change("b", "{not json"),
        change("c", "{}"),
    ]);
    assert!(matches!(
        rig.pump.step().await,
        Step::CaughtUp(Applied {
            hooked: 2,
            letters: 1
        })
    ));
    assert_eq!(rig.position().await.as_deref(), Some("3"));
    let letters = rig.store.letters(&LetterFilter::default()).await.unwrap();
    assert_eq!(letters.len(), 1);
    let content = &letters[0].content;
    assert_eq!(content.document_id, "b");
    assert_eq!(content.hook, "probe");
    assert_eq!(content.body.as_deref(), Some(b"{not json".as_slice()));
    assert!(!content.errors.is_empty());
}

/// I3: whoever took the lease later commits; the earlier owner cannot.
#[tokio::test]
async fn an_owner_whose_lease_was_taken_cannot_commit() {
    let mut rig = Rig::new(done()).await;
    rig.feed.push([change("a", "{}")]);
    let lease = rig.store.checkpoints().await.unwrap()[0].lease.clone();
    rig.store.take(&lease, rig.clock.now()).await.unwrap();
    let Step::Failed(problem) = rig.pump.step().await else {
        panic!("a fenced owner stops");
    };
    assert_eq!(problem.code, codes::LEASE_LOST);
    assert_eq!(rig.position().await, None);
}

#[tokio::test]
async fn the_feed_away_is_waited_for_and_a_lost_history_is_terminal() {
    let mut rig = Rig::new(done()).await;
    let collection = || "things".to_owned();
    rig.feed.fail(FeedError::Unavailable {
        collection: collection(),
        source: "connection refused".into(),
    });
    rig.feed.fail(FeedError::RetentionExceeded {
        collection: collection(),
    });
    let Step::Wait { why, .. } = rig.pump.step().await else {
        panic!("it must wait");
    };
    assert!(why.contains("connection refused"), "{why}");
    let Step::Failed(problem) = rig.pump.step().await else {
        panic!("it must stop");
    };
    assert_eq!(problem.code, codes::RETENTION_EXCEEDED);
}

/// I1: a page that is given up half-way leaves nothing behind.
#[tokio::test]
async fn an_abort_rolls_the_page_in_hand_back() {
    let act: Act = Box::new(|_| Box::pin(std::future::pending()));
    let mut rig = Rig::new(act).await;
    rig.feed.push([change("a", "{}")]);
    rig.pump.pulse.abort.cancel();
    assert!(matches!(rig.pump.step().await, Step::Aborted));
    assert_eq!(rig.position().await, None);
}

/// I6: an empty collection's start is stored too, so that a later `start` changes nothing.
#[tokio::test]
async fn the_first_empty_answer_is_stored() {
    let mut rig = Rig::new(done()).await;
    assert!(matches!(rig.pump.step().await, Step::CaughtUp(_)));
    assert_eq!(rig.position().await.as_deref(), Some("0"));
}

/// A job ends, whatever keeps it from its end: here the feed, which never comes back.
#[tokio::test]
async fn until_the_end_of_the_feed_no_failure_is_waited_for_without_limit() {
    let rig = Rig::new(done()).await;
    for _ in 0..9 {
        rig.feed.fail(FeedError::Unavailable {
            collection: "things".to_owned(),
            source: "connection refused".into(),
        });
    }
    let seat = rig.seat();
    let stop = CancellationToken::new();
    let time = async {
        loop {
            rig.clock.advance(Limits::default().backoff_max);
            tokio::task::yield_now().await;
        }
    };
    let problem = tokio::select! {
        ended = rig.pump.run(Until::EndOfFeed { attempts: 3 }, &stop, &seat) => ended.unwrap_err(),
        () = time => unreachable!("time does not end"),
    };
    assert_eq!(problem.code, codes::GAVE_UP);
    assert!(problem.message.contains("after 3 attempts"), "{problem}");
    assert!(problem.message.contains("connection refused"), "{problem}");
}

/// Nothing is in hand while a page is waited for.
#[tokio::test]
async fn a_read_that_hangs_does_not_keep_the_program_from_ending() {
    let rig = Rig::new(done()).await;
    rig.feed.hang();
    let seat = rig.seat();
    let stop = CancellationToken::new();
    let mut run = std::pin::pin!(rig.pump.run(Until::Stopped, &stop, &seat));
    assert!(futures_util::poll!(&mut run).is_pending());
    stop.cancel();
    assert!(matches!(run.await, Ok(Ended::Stopped)));
}
