//! Requests by the thousand, made up from a seed, against a model that is too simple to be wrong: no panic, no 500, and
//! no answer but the right one. And the signature, which every request needs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::http::Request;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::*;
use crate::options::Options;

fn served(control: bool) -> Served {
    let clock: Clock = Arc::new(|| Timestamp::from_second(1_700_000_000).unwrap());
    let movable = MovableClock::default();
    Served {
        emulator: Emulator::in_memory(Options::new(movable.over(clock))),
        key: Key::new(WELL_KNOWN_KEY).unwrap(),
        url: "http://127.0.0.1:1/".to_owned(),
        control,
        ranges: 1,
        switches: RwLock::default(),
        clock: Some(movable),
        faults: Faults::default(),
    }
}

type Headers<'a> = &'a [(&'a str, &'a str)];

fn sign(key: &str, method: &str, path: &str, date: &str) -> String {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (kind, link) = match parts.len() {
        0 => ("", String::new()),
        count if count % 2 == 1 => (parts[count - 1], parts[..count - 1].join("/")),
        count => (parts[count - 2], parts.join("/")),
    };
    let text = format!("{}\n{kind}\n{link}\n{date}\n\n", method.to_lowercase());
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(key).unwrap()).unwrap();
    mac.update(text.as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    let whole = format!("type=master&ver=1.0&sig={signature}");
    percent_encoding::utf8_percent_encode(&whole, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn asked(method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> Option<Asked> {
    let date = "tue, 01 dec 2026 00:00:00 gmt";
    let uri: axum::http::Uri = format!("http://127.0.0.1:1/{path}").parse().ok()?;
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .header("x-ms-date", date)
        .header("authorization", sign(WELL_KNOWN_KEY, method, path, date));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).ok()?.into_parts();
    Asked::new(&parts, bytes::Bytes::copy_from_slice(body)).ok()
}

/// Status, headers and body.
struct Told {
    status: u16,
    headers: HashMap<String, String>,
    body: Value,
}

fn tell(served: &Served, method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> Told {
    let asked = asked(method, path, headers, body).expect("a request that can be made");
    told(served.answer(&asked, &Fate::Served(None)))
}

fn told(answer: Answer) -> Told {
    let response = answer.into_response("");
    let (parts, body) = response.into_parts();
    let bytes = futures_of(to_bytes(body, usize::MAX)).unwrap();
    Told {
        status: parts.status.as_u16(),
        headers: parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect(),
        body: if bytes.is_empty() {
            Value::Null
        } else {
            crate::json::value(&bytes).expect("bodies are JSON")
        },
    }
}

fn futures_of<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn container(served: &Served, more: &Value) {
    let mut body =
        json!({"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let units = [("x-ms-offer-throughput", "30000")];
    assert_eq!(
        tell(served, "POST", "dbs", &[], br#"{"id":"d"}"#).status,
        201
    );
    let made = tell(
        served,
        "POST",
        "dbs/d/colls",
        &units,
        body.to_string().as_bytes(),
    );
    assert_eq!(made.status, 201, "{}", made.body);
}

#[test]
fn a_request_is_served_only_with_the_accounts_signature() {
    let served = served(false);
    assert_eq!(tell(&served, "GET", "", &[], b"").status, 200);
    let date = "tue, 01 dec 2026 00:00:00 gmt";
    let other = STANDARD.encode("another key");
    for (signature, status) in [
        (sign(WELL_KNOWN_KEY, "GET", "dbs", date), 200),
        (sign(&other, "GET", "dbs", date), 401),
        (sign(WELL_KNOWN_KEY, "POST", "dbs", date), 401),
        (sign(WELL_KNOWN_KEY, "GET", "dbs/d", date), 401),
        ("type%3Dmaster%26ver%3D1.0%26sig%3D".to_owned(), 401),
        ("type%3Daad%26ver%3D1.0%26sig%3Dtoken".to_owned(), 401),
        ("nonsense".to_owned(), 401),
    ] {
        let request = Request::builder()
            .uri("http://127.0.0.1:1/dbs")
            .header("x-ms-date", date)
            .header("authorization", &signature);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let asked = Asked::new(&parts, bytes::Bytes::new()).unwrap();
        let told = told(served.answer(&asked, &Fate::Served(None)));
        assert_eq!(told.status, status, "{signature}: {}", told.body);
    }
    let unsigned = Request::builder().uri("http://127.0.0.1:1/dbs");
    let (parts, ()) = unsigned.body(()).unwrap().into_parts();
    let asked = Asked::new(&parts, bytes::Bytes::new()).unwrap();
    assert_eq!(told(served.answer(&asked, &Fate::Served(None))).status, 401);
}

#[test]
fn control_is_for_programs_of_this_machine() {
    let served = served(true);
    let told_to = |host: &str, headers: Headers<'_>| {
        let uri: axum::http::Uri = format!("http://{host}/_control/throttle").parse().unwrap();
        let mut request = Request::builder().method("POST").uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let body = bytes::Bytes::from_static(br#"{"requests":0}"#);
        let asked = Asked::new(&parts, body).unwrap();
        told(served.answer(&asked, &Fate::Served(None))).status
    };
    for host in [
        "localhost:8081",
        "LOCALHOST",
        "127.0.0.1:1",
        "[::1]:8081",
        "[::1]",
    ] {
        assert_eq!(told_to(host, &[]), 200, "{host}");
        assert_eq!(
            told_to(host, &[("origin", "http://localhost")]),
            403,
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "localhost.evil.example:8081",
        "127.0.0.1.evil.example",
    ] {
        assert_eq!(told_to(host, &[]), 403, "{host}");
    }
}

/// What cannot be read is not absent: a precondition least of all.
#[test]
fn a_header_that_cannot_be_read_is_refused_by_name() {
    for name in [
        "if-match",
        "x-ms-documentdb-partitionkey",
        "x-ms-session-token",
    ] {
        let request = Request::builder().uri("http://127.0.0.1:1/dbs").header(
            name,
            axum::http::HeaderValue::from_bytes(b"\"\xc3\xa9\"").unwrap(),
        );
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let refused = Asked::new(&parts, bytes::Bytes::new()).unwrap_err();
        let told = told(refused.into());
        assert_eq!(told.status, 400);
        let message = told.body["message"].as_str().unwrap();
        assert!(message.contains(name), "{message}");
    }
}

/// What one reader stores and the next cannot decode is refused by the first, whichever way it comes.
#[test]
fn what_cannot_be_decoded_is_not_stored_and_what_looks_odd_is_as_it_was() {
    let served = served(false);
    container(&served, &json!({}));
    let key = ("x-ms-documentdb-partitionkey", "[\"a\"]");
    let post = |headers: Headers<'_>, body: &str| {
        let mut all = vec![key];
        all.extend(headers);
        tell(&served, "POST", "dbs/d/colls/c/docs", &all, body.as_bytes())
    };
    for (number, bad) in [
        "\"\\ud800\"".to_owned(),
        "1e999".to_owned(),
        "[".repeat(130) + &"]".repeat(130),
    ]
    .into_iter()
    .enumerate()
    {
        let document = format!(r#"{{"id":"x","pk":"a","v":{bad}}}"#);
        let told = post(&[], &document);
        assert_eq!(told.status, 400, "{number}: {}", told.body);
        let batch = format!(r#"[{{"operationType":"Create","resourceBody":{document}}}]"#);
        let headers = [
            ("x-ms-cosmos-is-batch-request", "True"),
            ("x-ms-cosmos-batch-atomic", "True"),
        ];
        let told = post(&headers, &batch);
        assert!(
            told.status == 400 || told.body[0]["statusCode"] == 400,
            "{number}: {} {}",
            told.status,
            told.body
        );
    }
    for name in ["RawValue", "Number"] {
        let odd =
            format!(r#"{{"id":"{name}","pk":"a","v":{{"$serde_json::private::{name}":"777"}}}}"#);
        assert_eq!(post(&[], &odd).status, 201);
    }
    let headers = [
        ("x-ms-documentdb-isquery", "true"),
        ("content-type", "application/query+json"),
    ];
    let query = r#"{"query":"SELECT VALUE c.v FROM c"}"#;
    let told = post(&headers, query);
    assert_eq!(told.status, 200, "{}", told.body);
    let text = serde_json::to_string(&told.body).unwrap();
    assert!(!text.contains("[777") && !text.contains(",777"), "{text}");
}

#[test]
fn control_is_off_unless_asked_for() {
    let served = served(false);
    assert_eq!(
        tell(&served, "POST", "_control/clock", &[], b"{}").status,
        403
    );
}

#[test]
fn faults_fall_on_documents_alone_and_as_often_as_asked() {
    let served = served(true);
    container(&served, &json!({}));
    let plan = br#"{"rate":0.25,"seed":7,"status":[429,503]}"#;
    assert_eq!(
        tell(&served, "POST", "_control/faults", &[], plan).status,
        200
    );
    let mut counts = BTreeMap::new();
    for _ in 0..4000 {
        let asked = asked("GET", "dbs/d/colls/c/docs", &[], b"").unwrap();
        let fate = served.faults.fate(&asked);
        let told = told(served.answer(&asked, &fate));
        *counts.entry(told.status).or_insert(0) += 1;
        assert_eq!(
            told.status == 429,
            told.headers.contains_key("x-ms-retry-after-ms")
        );
    }
    assert!((2800..3200).contains(&counts[&200]), "{counts:?}");
    assert!(counts[&429] > 300 && counts[&503] > 300, "{counts:?}");
    let elsewhere = asked("GET", "dbs/d/colls/c/pkranges", &[], b"").unwrap();
    assert!((0..100).all(|_| matches!(served.faults.fate(&elsewhere), Fate::Served(None))));
    for bad in [
        &br#"{"rate":2}"#[..],
        br#"{"rate":0.5,"status":[404]}"#,
        br#"{"rate":0.5,"status":[]}"#,
        br#"{"rat":1}"#,
    ] {
        assert_eq!(
            tell(&served, "POST", "_control/faults", &[], bad).status,
            400
        );
    }
}

/// What the model knows of a document.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    n: u64,
    etag: String,
}

#[derive(Default)]
struct Model {
    documents: BTreeMap<(String, String), Stored>,
    writes: usize,
}

/// One valid request about documents, its answer compared with the model.
fn step(served: &Served, model: &mut Model, rng: &mut fastrand::Rng) {
    let pk = rng.u8(0..6).to_string();
    let id = rng.u8(0..4).to_string();
    let name = (pk.clone(), id.clone());
    let known = model.documents.get(&name).cloned();
    let key = format!("[\"{pk}\"]");
    let docs = "dbs/d/colls/c/docs";
    let path = format!("{docs}/{id}");
    let n = rng.u64(0..1000);
    let body = json!({"id": id, "pk": pk, "n": n}).to_string();
    let key_header = ("x-ms-documentdb-partitionkey", key.as_str());
    let etag = match rng.u8(0..4) {
        0 => Some("\"stale\"".to_owned()),
        1 => known.as_ref().map(|known| known.etag.clone()),
        _ => None,
    };
    let mut headers = vec![key_header];
    if let Some(etag) = &etag {
        headers.push(("if-match", etag));
    }
    let fits = etag.is_none() || etag == known.as_ref().map(|known| known.etag.clone());
    let put = |model: &mut Model, told: &Told| {
        let etag = told.headers["etag"].clone();
        model.documents.insert(name.clone(), Stored { n, etag });
        model.writes += 1;
    };
    match rng.u8(0..6) {
        0 => {
            let told = tell(served, "POST", docs, &[key_header], body.as_bytes());
            let expected = if known.is_some() { 409 } else { 201 };
            assert_eq!(told.status, expected, "{}", told.body);
            if known.is_none() {
                put(model, &told);
            }
        }
        1 => {
            headers.push(("x-ms-documentdb-is-upsert", "True"));
            let told = tell(served, "POST", docs, &headers, body.as_bytes());
            let expected = match (&known, fits) {
                (None, _) => 201,
                (Some(_), false) => 412,
                (Some(_), true) => 200,
            };
            assert_eq!(told.status, expected, "{}", told.body);
            if expected != 412 {
                assert_eq!(told.body["n"], n);
                put(model, &told);
            }
        }
        2 => {
            let told = tell(served, "PUT", &path, &headers, body.as_bytes());
            let expected = match (&known, fits) {
                (None, _) => 404,
                (Some(_), false) => 412,
                (Some(_), true) => 200,
            };
            assert_eq!(told.status, expected, "{}", told.body);
            if expected == 200 {
                put(model, &told);
            }
        }
        3 => {
            let told = tell(served, "DELETE", &path, &headers, b"");
            let expected = match (&known, fits) {
                (None, _) => 404,
                (Some(_), false) => 412,
                (Some(_), true) => 204,
            };
            assert_eq!(told.status, expected, "{}", told.body);
            if expected == 204 {
                model.documents.remove(&name);
                model.writes += 1;
            }
        }
        4 => {
            let told = tell(served, "GET", &path, &[key_header], b"");
            assert_eq!(told.status, if known.is_some() { 200 } else { 404 });
            if let Some(known) = known {
                assert_eq!(
                    (&told.body["n"], &told.headers["etag"]),
                    (&json!(known.n), &known.etag)
                );
            }
        }
        _ => {
            let operations =
                format!(r#"{{"operations":[{{"op":"set","path":"/n","value":{n}}}]}}"#);
            let told = tell(served, "PATCH", &path, &headers, operations.as_bytes());
            let expected = match (&known, fits) {
                (None, _) => 404,
                (Some(_), false) => 412,
                (Some(_), true) => 200,
            };
            assert_eq!(told.status, expected, "{}", told.body);
            if expected == 200 {
                put(model, &told);
            }
        }
    }
}

/// Everything in the container, by query, by list and by the feed, is what the model has.
fn compare(served: &Served, model: &Model) {
    let docs = "dbs/d/colls/c/docs";
    let ranges = tell(served, "GET", "dbs/d/colls/c/pkranges", &[], b"");
    let read = |document: &Value| {
        let text = |name: &str| document[name].as_str().unwrap().to_owned();
        let stored = Stored {
            n: document["n"].as_u64().unwrap(),
            etag: text("_etag"),
        };
        ((text("pk"), text("id")), stored)
    };
    let mut found = [BTreeMap::new(), BTreeMap::new(), BTreeMap::new()];
    for range in ranges.body["PartitionKeyRanges"].as_array().unwrap() {
        let id = range["id"].as_str().unwrap();
        let scope = ("x-ms-documentdb-partitionkeyrangeid", id);
        let query = [
            scope,
            ("x-ms-documentdb-isquery", "True"),
            ("x-ms-max-item-count", "3"),
        ];
        let list = [scope, ("x-ms-max-item-count", "2")];
        for (at, method, headers, body) in [
            (
                0,
                "POST",
                &query[..],
                &br#"{"query":"SELECT * FROM c"}"#[..],
            ),
            (1, "GET", &list[..], b""),
        ] {
            let mut next: Option<String> = None;
            loop {
                let mut headers = headers.to_vec();
                headers.extend(next.as_deref().map(|next| ("x-ms-continuation", next)));
                let told = tell(served, method, docs, &headers, body);
                assert_eq!(told.status, 200, "{}", told.body);
                let documents = told.body["Documents"].as_array().unwrap();
                assert_eq!(told.body["_count"], documents.len());
                for document in documents {
                    let (name, stored) = read(document);
                    assert!(found[at].insert(name, stored).is_none(), "seen twice");
                }
                next = told.headers.get("x-ms-continuation").cloned();
                if next.is_none() {
                    break;
                }
            }
        }
        let mut etag = None;
        loop {
            let mut headers = vec![
                scope,
                ("a-im", "Incremental feed"),
                ("x-ms-max-item-count", "4"),
            ];
            headers.extend(etag.as_deref().map(|etag: &str| ("if-none-match", etag)));
            let told = tell(served, "GET", docs, &headers, b"");
            etag = told.headers.get("etag").cloned();
            if told.status == 304 {
                break;
            }
            for document in told.body["Documents"].as_array().unwrap() {
                let (name, stored) = read(document);
                found[2].insert(name, stored);
            }
        }
    }
    for (found, how) in found.iter().zip(["query", "list", "feed"]) {
        assert_eq!(*found, model.documents, "{how}");
    }
}

/// The all-versions feed has as many changes as there were writes.
fn history(served: &Served) -> usize {
    let ranges = tell(served, "GET", "dbs/d/colls/c/pkranges", &[], b"");
    let mut seen = std::collections::HashSet::new();
    for range in ranges.body["PartitionKeyRanges"].as_array().unwrap() {
        let id = range["id"].as_str().unwrap();
        let headers = [
            ("x-ms-documentdb-partitionkeyrangeid", id),
            ("a-im", "Full-Fidelity Feed"),
            ("if-none-match", "\"0\""),
            ("x-ms-max-item-count", "100000"),
        ];
        let told = tell(served, "GET", "dbs/d/colls/c/docs", &headers, b"");
        for item in told.body["Documents"].as_array().into_iter().flatten() {
            assert!(seen.insert(item.to_string()));
        }
    }
    seen.len()
}

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const PARTS: &[&str] = &[
    "dbs", "d", "colls", "c", "docs", "0", "pkranges", "offers", "_control", "%00", "%ff", "..",
    "sprocs", "a%2Fb", "", "ä",
];

const NAMES: &[&str] = &[
    "x-ms-documentdb-partitionkey",
    "x-ms-documentdb-partitionkeyrangeid",
    "x-ms-start-epk",
    "x-ms-end-epk",
    "x-ms-documentdb-isquery",
    "x-ms-documentdb-query-enablecrosspartition",
    "x-ms-cosmos-is-query-plan-request",
    "x-ms-cosmos-is-batch-request",
    "x-ms-cosmos-batch-atomic",
    "x-ms-documentdb-is-upsert",
    "x-ms-max-item-count",
    "x-ms-continuation",
    "a-im",
    "if-none-match",
    "if-modified-since",
    "if-match",
    "prefer",
    "x-ms-cosmos-changefeed-wire-format-version",
    "x-ms-offer-throughput",
    "x-ms-cosmos-offer-autopilot-settings",
    "x-ms-cosmos-intended-collection-rid",
];

const VALUES: &[&str] = &[
    "true",
    "True",
    "False",
    "",
    "*",
    "\"3\"",
    "\"99999999999999999999\"",
    "0",
    "1",
    "-1",
    "-5",
    "[\"a\"]",
    "[]",
    "[{}]",
    "[1,2,3]",
    "{",
    "\"\"",
    "FF",
    "05C1",
    "zz",
    "Incremental feed",
    "Full-Fidelity Feed",
    "2021-09-15",
    "Tue, 01 Dec 2026 00:00:00 GMT",
    "yesterday",
    "return=minimal",
    "30000",
    "999999999",
    "eyJEb2N1bWVudHMiOlsiIiwwXX0",
    "{\"maxThroughput\":1}",
];

const BODIES: &[&str] = &[
    "",
    "{}",
    "[]",
    "null",
    "{",
    "{\"id\":\"0\",\"pk\":\"a\"}",
    "{\"id\":1}",
    "{\"id\":\"\"}",
    "{\"query\":\"SELECT * FROM c\"}",
    "{\"query\":\"SELECT VALUE COUNT(1) FROM c\"}",
    "{\"query\":\"SELECT * FROM c ORDER BY c.n OFFSET 1 LIMIT 2\"}",
    "{\"query\":\"DROP TABLE\"}",
    "{\"query\":1}",
    "[{\"operationType\":\"Create\",\"resourceBody\":{\"id\":\"x\",\"pk\":\"a\"}}]",
    "[{\"operationType\":\"Delete\",\"id\":\"0\"}]",
    "[{\"operationType\":\"Fly\"}]",
    "{\"operations\":[{\"op\":\"incr\",\"path\":\"/n\",\"value\":\"x\"}]}",
    "{\"operations\":[{\"op\":\"move\",\"path\":\"/n\"}]}",
    "\u{80}\u{1}",
    "{\"id\":\"c\",\"partitionKey\":{\"paths\":[\"/pk\"]}}",
    "{\"id\":\"e\",\"partitionKey\":{\"paths\":[],\"kind\":\"Hash\"}}",
];

/// A request that nobody would make.
fn nonsense(rng: &mut fastrand::Rng) -> Option<Asked> {
    let path: Vec<_> = if rng.bool() {
        let more = rng.usize(0..4);
        ["dbs", "d", "colls", "c", "docs", "0"][..3 + more].to_vec()
    } else {
        (0..rng.usize(0..8))
            .map(|_| PARTS[rng.usize(..PARTS.len())])
            .collect()
    };
    let mut headers = Vec::new();
    for _ in 0..rng.usize(0..6) {
        headers.push((
            NAMES[rng.usize(..NAMES.len())],
            VALUES[rng.usize(..VALUES.len())],
        ));
    }
    let mut body = BODIES[rng.usize(..BODIES.len())].as_bytes().to_vec();
    if rng.u8(0..4) == 0 && !body.is_empty() {
        let at = rng.usize(..body.len());
        body[at] = rng.u8(..);
    }
    asked(
        METHODS[rng.usize(..METHODS.len())],
        &path.join("/"),
        &headers,
        &body,
    )
}

#[test]
fn fifty_thousand_requests_are_answered_as_they_should_be() {
    let (mut valid, mut odd) = (0, 0);
    for seed in 0..10 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let served = served(true);
        container(
            &served,
            &json!({"changeFeedPolicy": {"retentionDuration": 10}}),
        );
        let mut model = Model::default();
        let mut splits = 0;
        for _ in 0..2500 {
            step(&served, &mut model, &mut rng);
            valid += 1;
            if rng.u16(..) < 100 && splits < 8 {
                let ranges = tell(&served, "GET", "dbs/d/colls/c/pkranges", &[], b"");
                let ranges = ranges.body["PartitionKeyRanges"]
                    .as_array()
                    .unwrap()
                    .clone();
                let range = &ranges[rng.usize(..ranges.len())]["id"];
                let split = json!({"database": "d", "container": "c", "range": range}).to_string();
                let told = tell(&served, "POST", "_control/split", &[], split.as_bytes());
                assert_eq!(told.status, 200, "{}", told.body);
                splits += 1;
            }
        }
        compare(&served, &model);
        assert_eq!(history(&served), model.writes, "seed {seed}");

        // What nobody would ask for changes what is there; another gateway takes it.
        let served = self::served(true);
        container(
            &served,
            &json!({"changeFeedPolicy": {"retentionDuration": 10}}),
        );
        for _ in 0..2900 {
            let Some(asked) = nonsense(&mut rng) else {
                continue;
            };
            odd += 1;
            let shown = format!("seed {seed}: {asked:?}");
            let told = told(served.answer(&asked, &Fate::Served(None)));
            assert!(told.status < 500, "{shown}: {} {}", told.status, told.body);
            if told.status >= 400 {
                assert!(
                    told.body["message"]
                        .as_str()
                        .is_some_and(|text| !text.is_empty()),
                    "{shown}"
                );
            }
        }
    }
    println!("{valid} requests against a model, {odd} that nobody would make");
    assert!(valid + odd >= 50_000, "{valid} + {odd}");
}
