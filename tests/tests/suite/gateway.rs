//! The projector on the feed of Cosmos DB, over the gateway: documents written by Microsoft's Python client while ranges
//! split and merge and one request of twenty fails. What the projections then hold must be what was written, exactly.
//!
//! `cargo xtask test` sets the client up and runs this; without it there is nobody to write.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use projectionist_emulator::gateway::{Gateway, GatewayOptions, WELL_KNOWN_KEY};
use projectionist_emulator::{
    Collection, CollectionConfig, Emulator, FeedRequest, From, Mode, Operation,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::program::{COUNTER, Place, SHOP, options, sample, until};

/// A gateway with the containers of one database.
struct Account {
    emulator: Emulator,
    gateway: Gateway,
}

impl Account {
    async fn start() -> Self {
        let emulator = Emulator::in_memory(options());
        let options = GatewayOptions {
            control: true,
            ..GatewayOptions::new(0)
        };
        let gateway = Gateway::start(emulator.clone(), options).await.unwrap();
        emulator.create_database("shop").unwrap();
        Self { emulator, gateway }
    }

    fn container(&self, name: &str, key: &str, ranges: u32) -> Arc<Collection> {
        let config = CollectionConfig::new(key)
            .ranges(ranges)
            .retention(Duration::from_hours(1));
        let more = serde_json::Map::new();
        self.emulator.create_in("shop", name, config, more).unwrap()
    }

    fn settings(&self, containers: &[&str]) -> String {
        let collections: String = containers
            .iter()
            .flat_map(|container| ["\n[collections.", container, "]\ndatabase = \"shop\"\n"])
            .collect();
        format!(
            "feed = \"cosmos\"\nstore = \"sqlite\"\npoll = \"200ms\"\nbackoff_max = \"500ms\"\n\n[accounts.local]\nendpoint = \"{}\"\nauth = \"key\"\nkey = \"{WELL_KNOWN_KEY}\"\n{collections}",
            self.gateway.url()
        )
    }

    /// Lets so many of all requests about documents fail.
    fn faults(&self, rate: f64) {
        let plan = json!({"rate": rate, "seed": 5, "status": [408, 429, 449, 503]});
        let body = plan.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.gateway.port())).unwrap();
        write!(
            stream,
            "POST /_control/faults HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// Starts Microsoft's client on a file of documents.
    fn write(&self, container: &str, file: &str) -> Writer {
        let client = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("interop/python/client.py");
        let python = std::env::var_os("PROJECTIONIST_PYTHON").expect("`cargo xtask test` sets it");
        let child = Command::new(python)
            .arg("-B")
            .arg(client)
            .args([
                "write",
                file,
                "--database",
                "shop",
                "--container",
                container,
            ])
            .env("COSMOS_ENDPOINT", self.gateway.url())
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("no_proxy", "127.0.0.1,localhost")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Writer(child)
    }
}

struct Writer(Child);

impl Writer {
    fn end(mut self) {
        let status = until("the client has written everything", || {
            self.0.try_wait().unwrap().ok_or_else(String::new)
        });
        assert!(status.success());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a container has so many documents.
fn holds(container: &Collection, documents: u64) {
    until(&format!("there are {documents} documents"), || {
        let count = container.count();
        (count >= documents)
            .then_some(())
            .ok_or_else(|| count.to_string())
    });
}

/// Splits the widest range.
fn split(container: &Collection) {
    let ranges = container.ranges();
    let widest = ranges
        .iter()
        .min_by_key(|range| range.parents.len())
        .unwrap();
    container.split(&widest.id).unwrap();
}

fn merge(container: &Collection) {
    let ranges = container.ranges();
    container.merge([&ranges[0].id, &ranges[1].id]).unwrap();
}

/// Every change that a container had: operation, partition key and id, sorted.
fn history(container: &Collection) -> Vec<(String, String, String)> {
    let mut changes = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for range in container.ranges() {
        let page = container
            .read_feed(&FeedRequest {
                min: range.min,
                max: range.max,
                mode: Mode::AllVersions,
                from: From::After(0),
                max_items: u32::MAX,
            })
            .unwrap();
        assert!(page.caught_up, "the history fits a page");
        for item in page.items {
            let operation = match item.operation {
                Operation::Create => "create",
                Operation::Delete => "delete",
                Operation::Replace | Operation::Upsert => "replace",
            };
            assert!(seen.insert((
                item.partition_key.to_string(),
                item.id.to_string(),
                item.lsn
            )));
            changes.push((
                operation.to_owned(),
                item.partition_key.to_string(),
                item.id.to_string(),
            ));
        }
    }
    changes.sort();
    changes
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "`cargo xtask test` sets up the client that writes, and runs this"]
async fn the_sample_arrives_through_splits_a_merge_and_faults() {
    let Some(sample) = sample() else {
        println!("not run: there is no data/cosmicworks in $PROJECTIONIST_SHARED or ../shared");
        return;
    };
    let account = Account::start().await;
    let store = account.container("store", "/customerId", 2);
    let products = account.container("products", "/categoryId", 2);
    let place = Place::new(SHOP, &account.settings(&["store", "products"]));
    account.faults(0.05);
    let running = place.start(&["run"]);
    running.says("listening");

    let file = |name: &str| sample.join(name).to_str().unwrap().to_owned();
    let writers = [
        account.write("store", &file("customers.jsonl")),
        account.write("store", &file("sales-orders.jsonl")),
        account.write("products", &file("products.jsonl")),
    ];
    // All versions of `store` through three splits, the latest of `products` through three and a merge.
    for documents in [100, 500, 1000] {
        holds(&store, documents);
        split(&store);
        split(&products);
    }
    merge(&products);
    for writer in writers {
        writer.end();
    }
    // Once more, so that there are replaces.
    account.write("store", &file("customers.jsonl")).end();
    running.signal("TERM");
    let ended = running.end();
    assert!(ended.status.success(), "{}", ended.err);
    place.succeed(&["run", "--once"]);
    account.faults(0.0);

    let mut model = place.read_model().await;
    let rows: Vec<(i64, String)> = sqlx::query_as("select orders, revenue from order_totals")
        .fetch_all(&mut model)
        .await
        .unwrap();
    assert_eq!(rows.len(), 100);
    assert_eq!(rows.iter().map(|(orders, _)| orders).sum::<i64>(), 1484);
    let revenue: Decimal = rows
        .iter()
        .map(|(_, revenue)| revenue.parse::<Decimal>().unwrap())
        .sum();
    assert_eq!(revenue, "21783966.3425".parse().unwrap());
    let named: i64 = sqlx::query_scalar("select count(*) from product_names")
        .fetch_one(&mut model)
        .await
        .unwrap();
    assert_eq!(u64::try_from(named).unwrap(), products.count());
    let mut audit: Vec<(String, String, String)> =
        sqlx::query_as("select operation, partition_key, document_id from audit")
            .fetch_all(&mut model)
            .await
            .unwrap();
    audit.sort();
    assert_eq!(audit, history(&store));
    let letters: i64 = sqlx::query_scalar("select count(*) from projectionist_letters")
        .fetch_one(&mut model)
        .await
        .unwrap();
    assert_eq!(letters, 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "`cargo xtask test` sets up the client that writes, and runs this"]
async fn a_counter_of_all_versions_is_exact_through_splits_and_faults() {
    const DOCUMENTS: u64 = 1500;
    let account = Account::start().await;
    let things = account.container("things", "/key", 1);
    let place = Place::new(COUNTER, &account.settings(&["things"]));
    account.faults(0.05);
    let running = place.start(&["run"]);
    running.says("listening");
    let lines: Vec<Value> = (0..DOCUMENTS)
        .map(|n| json!({"id": n.to_string(), "key": format!("k{}", n % 37), "n": n}))
        .collect();
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = place.write("things.jsonl", &text.join("\n"));
    let writer = account.write("things", file.to_str().unwrap());
    for documents in [200, 500, 900] {
        holds(&things, documents);
        split(&things);
    }
    writer.end();
    account.write("things", file.to_str().unwrap()).end();
    running.signal("TERM");
    assert!(running.end().status.success());
    place.succeed(&["run", "--once"]);
    account.faults(0.0);

    let expected = i64::try_from(history(&things).len()).unwrap();
    assert!(expected >= 2 * 1500, "{expected}");
    let mut model = place.read_model().await;
    let counted: i64 = sqlx::query_scalar("select n from counter")
        .fetch_one(&mut model)
        .await
        .unwrap();
    assert_eq!(counted, expected);
}
