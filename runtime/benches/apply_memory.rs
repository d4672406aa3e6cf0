//! The whole path of a page on the memory store: read, hooks, letters, commit.
//!
//! The reference is a loop that decodes the same bodies and keeps its position in a map behind a
//! lock, compared and set once a page.

mod common;

use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::change::RawChange;
use projectionist::extract::state::States;
use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist::registry::Location;
use projectionist_runtime::clock::SystemClock;
use projectionist_runtime::coordination::Instance;
use projectionist_runtime::coordination::memory::MemoryCoordination;
use projectionist_runtime::engine::{Engine, Limits, Prepared, Ready, SchemaPolicy, Setup, Until};
use projectionist_runtime::feed::{Feed, FeedError, FeedPage, FeedRange, Read};
use projectionist_runtime::position::{Bounds, Position, Source};
use projectionist_runtime::store::memory::MemoryStore;

use self::common::Order;

const PAGE: usize = 100;
const PAGES: usize = 200;
const ROUNDS: usize = 9;

#[projection(collection = "orders", name = "noop", register = false)]
struct Noop;

impl Noop {
    #[on_upsert]
    async fn keep(&self, order: Change<Order>) {
        black_box(&order.0);
    }
}

static NOOP: ProjectionDef = ProjectionDef::of::<Noop>(Location {
    file: file!(),
    line: line!(),
});

/// Hands out pages that stand ready.
struct Canned {
    source: Source,
    pages: Mutex<VecDeque<FeedPage>>,
}

impl Feed for Canned {
    fn source(&self) -> &Source {
        &self.source
    }

    fn retention(&self) -> Option<Duration> {
        None
    }

    fn ranges(&self) -> BoxFuture<'_, Result<Vec<FeedRange>, FeedError>> {
        let bounds = Bounds {
            min: String::new(),
            max: "FF".to_owned(),
        };
        let id = "0".to_owned();
        Box::pin(async { Ok(vec![FeedRange { id, bounds }]) })
    }

    fn read<'a>(&'a self, _: Read<'a>) -> BoxFuture<'a, Result<FeedPage, FeedError>> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages.pop_front().expect("the last page says so");
        Box::pin(async { Ok(page) })
    }

    fn newest<'a>(&'a self, _: &'a Bounds) -> BoxFuture<'a, Result<u64, FeedError>> {
        Box::pin(async { Ok(0) })
    }

    fn backlog<'a>(
        &'a self,
        _: &'a Bounds,
        _: Mode,
        _: &'a Position,
    ) -> BoxFuture<'a, Result<Option<u64>, FeedError>> {
        Box::pin(async { Ok(None) })
    }

    fn changed<'a>(&'a self, _: &'a Bounds, _: &'a Position) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }
}

fn pages(changes: &[RawChange]) -> VecDeque<FeedPage> {
    (1..=PAGES)
        .map(|number| FeedPage {
            changes: changes.to_vec(),
            position: Position::new(number.to_string()),
            caught_up: number == PAGES,
            range_changed: false,
            unreadable: None,
        })
        .collect()
}

async fn prepare(changes: &[RawChange]) -> Ready {
    let feed = Canned {
        source: Source {
            account: "bench".to_owned(),
            database: "bench".to_owned(),
            container: "orders".to_owned(),
            rid: "bench".to_owned(),
        },
        pages: Mutex::new(pages(changes)),
    };
    let setup = Setup {
        schema: SchemaPolicy::Apply,
        projections: vec![Prepared {
            def: &NOOP,
            start: Start::Beginning,
            start_origin: "the bench".to_owned(),
            batch: 100,
            feed: Arc::new(feed),
        }],
        states: States::default(),
        store: Arc::new(MemoryStore::default()),
        coordination: Arc::new(MemoryCoordination::default()),
        instance: Instance {
            name: "bench".to_owned(),
            incarnation: "1".to_owned(),
            pid: std::process::id(),
            started_at: Timestamp::UNIX_EPOCH,
        },
        clock: Arc::new(SystemClock),
        seed: 7,
        limits: Limits::default(),
    };
    Engine::prepare(setup)
        .await
        .expect("the bench's projection is sound")
}

fn by_hand(pages: VecDeque<FeedPage>) {
    let checkpoints = Mutex::new(HashMap::from([(
        "lease".to_owned(),
        (0_u64, String::new()),
    )]));
    for (version, page) in (0..).zip(pages) {
        for change in &page.changes {
            let body = change.current.as_ref().expect("every change has a body");
            let order: Order = serde_json::from_slice(&body.json()).expect("every body decodes");
            black_box(&order);
        }
        let mut checkpoints = checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let row = checkpoints.get_mut("lease").expect("it was put there");
        assert_eq!(row.0, version);
        *row = (version + 1, page.position.as_str().to_owned());
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    for (size, name, floor) in [(1_024, "1k", 0.80), (10_240, "10k", 0.90)] {
        let changes = common::changes(7, PAGE, size);
        // Making the pages is no part of either side: they stand ready before the time is taken.
        let canned = Mutex::new(Vec::new());
        let ready = Mutex::new(Vec::new());
        for _ in 0..=ROUNDS {
            canned.lock().expect("one thread").push(pages(&changes));
            ready
                .lock()
                .expect("one thread")
                .push(runtime.block_on(prepare(&changes)));
        }
        let ratio = common::ratio(
            ROUNDS,
            || {
                let pages = canned.lock().expect("one thread").pop();
                by_hand(pages.expect("enough were made"));
            },
            || {
                let ready = ready
                    .lock()
                    .expect("one thread")
                    .pop()
                    .expect("enough were made");
                runtime.block_on(async {
                    let running = ready.start(Until::EndOfFeed { attempts: 1 });
                    let summary = running.finished().await;
                    assert_eq!(summary.applied, (PAGE * PAGES) as u64);
                });
            },
        );
        common::figure(&format!("apply_memory/{name}"), ratio, floor);
    }
}
