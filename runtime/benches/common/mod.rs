//! What the benches share: documents, interleaved ratios, and the lines they print.

#![expect(dead_code, reason = "each bench uses its own part")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use projectionist::change::{Document, Operation, RawChange};
use serde::Deserialize;

/// What a projection reads of a document: 8 of its 17 fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) customer_id: String,
    pub(crate) status: String,
    pub(crate) total: f64,
    pub(crate) quantity: i64,
    pub(crate) note: String,
    pub(crate) created: String,
    pub(crate) paid: bool,
}

/// One Cosmos-like document of about `size` bytes, with escapes and text beyond ASCII.
fn document(rng: &mut fastrand::Rng, number: usize, size: usize) -> String {
    let mut text = format!(
        r#"{{"id":"order-{number}","customerId":"customer-{}","type":"salesOrder","status":"shipped","total":{}.{:02},"quantity":{},"note":"line \"one\"\nline two \u00e9 — größer","created":"2026-11-{:02}T12:00:00Z","paid":{},"currency":"EUR","#,
        rng.u32(..5_000),
        rng.u32(..10_000),
        rng.u32(..100),
        rng.i64(1..100),
        rng.u32(1..29),
        rng.bool(),
    );
    text.push_str(
        r#""address":{"street":"Hauptstraße 7","city":"Köln","zip":"50667"},"details":["#,
    );
    let tail = 240;
    while text.len() + tail < size {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            r#"{{"sku":"BK-{:04}","name":"Road \"Frame\" 58","price":{}.{:03},"quantity":{}}},"#,
            rng.u32(..10_000),
            rng.u32(..2_000),
            rng.u32(..1_000),
            rng.u32(1..10),
        );
    }
    if text.ends_with(',') {
        text.pop();
    }
    let _ = write!(
        text,
        r#"],"_rid":"AAAAAAAAAAAAAAAAAAAA{number:08}==","_self":"dbs/AAAAAA==/colls/AAAAAAAA=/docs/{number:08}/","_etag":"\"{:032x}\"","_attachments":"attachments/","_ts":1764547200}}"#,
        rng.u128(..),
    );
    text
}

/// `count` changes, each a document of about `size` bytes.
pub(crate) fn changes(seed: u64, count: usize, size: usize) -> Vec<RawChange> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..count)
        .map(|number| RawChange {
            id: format!("order-{number}").into(),
            partition_key: format!("[\"customer-{}\"]", number % 97).into(),
            operation: Operation::Upsert,
            current: Some(Document::from_json(Bytes::from(document(
                &mut rng, number, size,
            )))),
            previous: None,
            etag: Some(format!("\"{number:032x}\"").into()),
            sequence: Some(number as u64 + 1),
            ordinal: 0,
            timestamp: Timestamp::UNIX_EPOCH,
            expired: false,
        })
        .collect()
}

/// Runs both in turn, `rounds` times, and gives the median of the reference's time over the median of ours: 1 is as
/// fast, less is slower. In turn, because this kind of machine changes its pace from minute to minute.
pub(crate) fn ratio(rounds: usize, mut reference: impl FnMut(), mut ours: impl FnMut()) -> f64 {
    reference();
    ours();
    let mut times = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            times.0.push(time(&mut reference));
            times.1.push(time(&mut ours));
        } else {
            times.1.push(time(&mut ours));
            times.0.push(time(&mut reference));
        }
    }
    median(times.0).as_secs_f64() / median(times.1).as_secs_f64()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a bench measures the machine's time"
)]
fn time(run: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Prints one figure. `ratio >= goal` passes.
pub(crate) fn figure(name: &str, ratio: f64, goal: f64) {
    println!(r#"{{"name":"{name}","ratio":{ratio:.3},"goal":{goal}}}"#);
}
