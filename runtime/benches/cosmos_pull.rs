//! What the feed of Azure Cosmos DB and the engine cost beside a loop over the official SDK that decodes into the same
//! type: client CPU for each change, over canned pages that another process serves on loopback; and, for comparison, the same
//! over the emulator's gateway in that process.

mod common;

use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use azure_core::credentials::Secret;
use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::options::{
    ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint, Region,
};
use azure_data_cosmos::{AccountReference, ContainerClient, CosmosClient, RoutingStrategy};
use futures_util::StreamExt as _;
use jiff::Timestamp;
use projectionist::extract::state::States;
use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist::registry::Location;
use projectionist_emulator::gateway::{Gateway, GatewayOptions, WELL_KNOWN_KEY};
use projectionist_emulator::{CollectionConfig, Emulator, Options};
use projectionist_runtime::clock::SystemClock;
use projectionist_runtime::config;
use projectionist_runtime::coordination::Instance;
use projectionist_runtime::coordination::memory::MemoryCoordination;
use projectionist_runtime::engine::{Engine, Limits, Prepared, Ready, SchemaPolicy, Setup, Until};
use projectionist_runtime::feed::Feed;
use projectionist_runtime::feed::cosmos::account::Account;
use projectionist_runtime::feed::cosmos::{CosmosFeed, Target};
use projectionist_runtime::store::memory::MemoryStore;
use serde_json::json;

use self::common::Order;

const DOCUMENTS: u64 = 40_000;
const ROUNDS: usize = 7;
const SIZES: [u32; 2] = [100, 1_000];
const KEY: &str = WELL_KNOWN_KEY;
/// Set for the process that serves.
const SERVE: &str = "COSMOS_PULL_SERVE";

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

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    if std::env::var_os(SERVE).is_some() {
        runtime.block_on(serve());
        return;
    }
    let server = Server::start();
    measure(&runtime, "cosmos_pull", &server.canned, 1.0 / 1.1);
    // Beside it, with no goal of its own.
    measure(&runtime, "cosmos_pull/gateway", &server.gateway, 0.0);
}

fn measure(runtime: &tokio::runtime::Runtime, name: &str, url: &str, goal: f64) {
    let container = runtime.block_on(container(url));
    let feed = runtime.block_on(feed(url));
    for items in SIZES {
        let mut cpu = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let hand = || cpu_of(|| runtime.block_on(by_hand(&container, items)));
            let ours = || {
                let ready = runtime.block_on(prepare(&feed, items));
                cpu_of(|| runtime.block_on(finish(ready)))
            };
            let (hand, ours) = if round % 2 == 0 {
                let hand = hand();
                (hand, ours())
            } else {
                let ours = ours();
                (hand(), ours)
            };
            // The first round warms up.
            if round > 0 {
                cpu.0.push(hand);
                cpu.1.push(ours);
            }
        }
        let (hand, ours) = (median(cpu.0), median(cpu.1));
        #[expect(clippy::cast_precision_loss, reason = "there are few documents")]
        let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / DOCUMENTS as f64;
        println!(
            "{name}/{items}: {:.2} µs of client CPU a change, {:.2} by hand: {:.3} times",
            each(ours),
            each(hand),
            ours.as_secs_f64() / hand.as_secs_f64()
        );
        let ratio = hand.as_secs_f64() / ours.as_secs_f64();
        common::figure(&format!("{name}/{items}"), ratio, goal);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// CPU time that this process took for it.
fn cpu_of(run: impl FnOnce()) -> Duration {
    let before = cpu();
    run();
    cpu().saturating_sub(before)
}

/// CPU time of all threads of this process.
fn cpu() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").expect("this bench needs Linux");
    let spent = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
        nanos.unwrap_or(0_u64)
    };
    Duration::from_nanos(threads.flatten().map(|thread| spent(thread.path())).sum())
}

/// The loop that somebody would write: typed, a position after each page.
async fn by_hand(container: &ContainerClient, items: u32) {
    let items = items.try_into().expect("it is not zero");
    let options = ChangeFeedOptions::default().with_max_item_count(MaxItemCountHint::Limit(items));
    let mut pages = container
        .query_change_feed::<Order>(
            FeedScope::full_container(),
            ChangeFeedStartFrom::Beginning,
            Some(options),
        )
        .await
        .expect("the server stands");
    let mut seen = 0;
    while let Some(page) = pages.next().await {
        let page = page.expect("every page decodes");
        if page.items().is_empty() {
            break;
        }
        for item in page.items() {
            black_box(item.current());
            seen += 1;
        }
        black_box(pages.to_continuation_token().expect("nothing is in flight"));
    }
    assert_eq!(seen, DOCUMENTS);
}

async fn prepare(feed: &Arc<dyn Feed>, items: u32) -> Ready {
    let setup = Setup {
        schema: SchemaPolicy::Apply,
        projections: vec![Prepared {
            def: &NOOP,
            start: Start::Beginning,
            start_origin: "the bench".to_owned(),
            batch: items,
            feed: Arc::clone(feed),
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

async fn finish(ready: Ready) {
    let summary = ready
        .start(Until::EndOfFeed { attempts: 1 })
        .finished()
        .await;
    assert_eq!(summary.applied, DOCUMENTS);
}

async fn container(url: &str) -> ContainerClient {
    let endpoint = url.parse().expect("the server names a URL");
    let account = AccountReference::with_authentication_key(endpoint, Secret::new(KEY));
    let client = CosmosClient::builder()
        .build(account, RoutingStrategy::ProximityTo(Region::EAST_US))
        .await
        .expect("the server stands");
    client
        .database_client("shop")
        .container_client("orders", None)
        .await
        .expect("the server has it")
}

async fn feed(url: &str) -> Arc<dyn Feed> {
    let account = Account::new(config::Account {
        endpoint: url.to_owned(),
        auth: config::Auth::Key,
        key: Some(config::Secret::new(KEY.to_owned())),
        ..Default::default()
    });
    let target = Target {
        collection: "orders".to_owned(),
        account: "bench".to_owned(),
        database: "shop".to_owned(),
        container: "orders".to_owned(),
    };
    let feed = CosmosFeed::connect(Arc::new(account), target, false, Arc::new(SystemClock)).await;
    Arc::new(feed.expect("the server has it"))
}

/// This program again, as the server.
struct Server {
    process: Child,
    canned: String,
    gateway: String,
}

impl Server {
    fn start() -> Self {
        let program = std::env::current_exe().expect("a program has a path");
        let mut process = Command::new(program)
            .env(SERVE, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be run");
        let output = process.stdout.take().expect("it is piped");
        let mut urls = BufReader::new(output).lines();
        let mut url = || {
            let line = urls.next().expect("the server names its URLs");
            line.expect("they are text")
        };
        Self {
            process,
            canned: url(),
            gateway: url(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Of one that has ended this is an error, and none that matters.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn serve() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("loopback");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    println!("{url}");
    let _gateway = gateway().await;
    let pages: Arc<[(u32, String)]> = SIZES.map(|items| (items, page(items))).into();
    let router = Router::new().fallback(move |request: Request| {
        let answer = answer(&request, &url, &pages);
        async move { answer }
    });
    let listener = listener.tap_io(|stream| {
        // Slower without it, and no less right.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await.expect("it serves");
}

/// The emulator's gateway, with as many documents as the canned pages have.
async fn gateway() -> Gateway {
    let emulator = Emulator::in_memory(Options::new(Arc::new(|| Timestamp::UNIX_EPOCH)));
    emulator.create_database("shop").expect("it is new");
    let setup = CollectionConfig::new("/customerId");
    let orders = emulator
        .create_in("shop", "orders", setup, serde_json::Map::new())
        .expect("it is new");
    for change in common::changes(7, 1_000, 1_024) {
        let body = change.current.expect("every change has a body").json();
        let document: serde_json::Value = serde_json::from_slice(&body).expect("it is JSON");
        for copy in 0..DOCUMENTS / 1_000 {
            let mut document = document.clone();
            document["id"] = json!(format!("{}-{copy}", change.id));
            orders
                .upsert(document.to_string())
                .expect("it is a document");
        }
    }
    let gateway = Gateway::start(emulator, GatewayOptions::new(0)).await;
    let gateway = gateway.expect("loopback");
    println!("{}", gateway.url());
    gateway
}

/// A page of documents of a kilobyte, in their envelopes.
fn page(items: u32) -> String {
    let mut page = String::from("{\"_rid\":\"AAAAAAAAAAA=\",\"Documents\":[");
    for (index, change) in common::changes(7, items as usize, 1_024).iter().enumerate() {
        if index > 0 {
            page.push(',');
        }
        let body = change
            .current
            .as_ref()
            .expect("every change has a body")
            .json();
        page.push_str("{\"current\":");
        page.push_str(std::str::from_utf8(&body).expect("it is text"));
        page.push_str(",\"metadata\":{\"lsn\":1,\"crts\":1764547200}}");
    }
    page.push_str("],\"_count\":0}");
    page
}

fn answer(request: &Request, url: &str, pages: &[(u32, String)]) -> Response {
    let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
    let has = |name: &str, value: &str| header(request.headers(), name) == Some(value);
    match path[..] {
        [""] => axum::Json(json!({
            "_self": "", "id": "bench", "_rid": "bench",
            "writableLocations": [{"name": "East US", "databaseAccountEndpoint": url}],
            "readableLocations": [{"name": "East US", "databaseAccountEndpoint": url}],
        }))
        .into_response(),
        ["dbs", _] => axum::Json(json!({"id": "shop", "_rid": "AAAAAA==", "_self": "dbs/AAAAAA==/", "_etag": "\"1\"", "_ts": 1}))
            .into_response(),
        ["dbs", _, "colls", _] => axum::Json(json!({
            "id": "orders", "_rid": "AAAAAAAAAAA=", "_self": "dbs/AAAAAA==/colls/AAAAAAAAAAA=/",
            "_etag": "\"1\"", "_ts": 1,
            "partitionKey": {"paths": ["/customerId"], "kind": "Hash", "version": 2},
        }))
        .into_response(),
        [.., "pkranges"] if has("if-none-match", "\"1\"") => {
            (StatusCode::NOT_MODIFIED, [("etag", "\"1\"")]).into_response()
        }
        [.., "pkranges"] => {
            let ranges = json!({"_rid": "AAAAAAAAAAA=", "_count": 1, "PartitionKeyRanges": [
                {"id": "0", "minInclusive": "", "maxExclusive": "FF", "status": "online", "parents": []},
            ]});
            ([("etag", "\"1\"")], axum::Json(ranges)).into_response()
        }
        [.., "docs"] => changes(request.headers(), pages),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The page after the one whose number the client names, until there were enough.
fn changes(headers: &HeaderMap, pages: &[(u32, String)]) -> Response {
    let number =
        |name| header(headers, name).and_then(|text| text.trim_matches('"').parse::<u64>().ok());
    let items = number("x-ms-max-item-count").unwrap_or(100);
    let done = number("if-none-match").unwrap_or(0);
    let (status, next) = if done * items >= DOCUMENTS {
        (StatusCode::NOT_MODIFIED, done)
    } else {
        (StatusCode::OK, done + 1)
    };
    let answer = [
        ("etag", format!("\"{next}\"")),
        ("content-type", "application/json".to_owned()),
        ("x-ms-request-charge", "1".to_owned()),
        ("x-ms-session-token", format!("0:0#{next}")),
        ("x-ms-documentdb-partitionkeyrangeid", "0".to_owned()),
        (
            "x-ms-activity-id",
            "00000000-0000-0000-0000-000000000000".to_owned(),
        ),
    ];
    let page = pages.iter().find(|(size, _)| u64::from(*size) == items);
    match page {
        Some((_, page)) if status == StatusCode::OK => (answer, page.clone()).into_response(),
        _ => (status, answer).into_response(),
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
