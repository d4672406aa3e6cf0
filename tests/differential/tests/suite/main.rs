//! Random scripts run twice through Microsoft's client: against our gateway, and against the in-memory core that ships
//! in Microsoft's driver. Every answer is compared, and item by item what is then there: by reads, by queries, by the
//! latest-version feed, before and after splits.
//!
//! The core keeps no history, so its all-versions feed is no measure; nor are its sequence numbers.
#![expect(clippy::unwrap_used, reason = "what a test unwraps is what it asserts")]

mod script;
mod sides;

use std::collections::BTreeMap;

use azure_data_cosmos::Query;
use azure_data_cosmos::feed::FeedScope;
use fastrand::Rng;
use futures_util::TryStreamExt as _;
use serde_json::Value;

use self::script::Script;
use self::sides::{Side, Sides, bare};

/// All that a query gives.
async fn rows(side: &Side, query: Query) -> Result<Vec<Value>, u16> {
    let scope = FeedScope::full_container();
    let found = side
        .container
        .query_items::<Value>(query, scope, None)
        .await;
    let found = match found {
        Ok(pages) => pages.try_collect::<Vec<Value>>().await,
        Err(error) => Err(error),
    };
    found.map_err(|error| u16::from(error.status().status_code()))
}

fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(ToString::to_string);
    rows
}

/// Each document's newest version, by partition key and id.
type Documents = BTreeMap<(String, String), Value>;

fn by_name(documents: Vec<Value>) -> Documents {
    documents
        .into_iter()
        .map(|document| {
            let text = |name: &str| document[name].to_string();
            ((text("pk"), text("id")), bare(document))
        })
        .collect()
}

async fn compare(sides: &Sides, seed: u64) {
    let all = || Query::from("SELECT * FROM c");
    let ours = rows(&sides.ours, all()).await.unwrap();
    let theirs = rows(&sides.theirs, all()).await.unwrap();
    assert_eq!(ours.len(), theirs.len(), "seed {seed}");
    let (ours, theirs) = (by_name(ours), by_name(theirs));
    assert_eq!(ours, theirs, "seed {seed}: by query");

    // Changes of one batch may come in any order among themselves.
    let fed = |changes: Vec<(String, Value)>| {
        let mut order: Vec<_> = changes;
        for (_, document) in &mut order {
            *document = bare(document.take());
        }
        for batch in
            order.chunk_by_mut(|(_, a), (_, b)| !a["batch"].is_null() && a["batch"] == b["batch"])
        {
            batch.sort_by_key(|(_, document)| document["id"].to_string());
        }
        order
    };
    let (left, right) = (sides.ours.feed().await, sides.theirs.feed().await);
    let (left, right) = (fed(left), fed(right));
    assert_eq!(left, right, "seed {seed}: by the feed, in its order");
    let newest = by_name(left.into_iter().map(|(_, document)| document).collect());
    assert_eq!(newest, ours, "seed {seed}: the feed's end");
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_end_alike_on_both_sides() {
    for seed in 0..4 {
        let mut rng = Rng::with_seed(seed);
        let sides = Sides::start().await;
        let mut script = Script::default();
        for round in 0..4 {
            for _ in 0..150 {
                script.step(&sides, &mut rng, seed).await;
            }
            compare(&sides, seed).await;
            if round < 3 {
                let at = rng.usize(..sides.ranges());
                sides.split(at).await;
                compare(&sides, seed).await;
            }
        }
        println!("seed {seed}: {:?}", script.statuses);
        for status in [200, 201, 204, 207, 404, 409, 412] {
            assert!(
                script.statuses.contains_key(&status),
                "nothing came to {status}"
            );
        }
    }
}

/// One condition on the documents of the scripts. Each field is compared with values of its own type alone: what `=` and
/// `!=` of two types are, the core and the clients of the service take differently (the change feed processor relies on
/// `<> null` being true of a string). Strings are in single quotes: the core reads double ones as something else.
fn condition(rng: &mut Rng, depth: u32) -> String {
    if depth > 0 && rng.u8(0..3) > 0 {
        let left = condition(rng, depth - 1);
        let right = condition(rng, depth - 1);
        return match rng.u8(0..5) {
            0 => format!("NOT ({left})"),
            1 | 2 => format!("({left}) AND ({right})"),
            _ => format!("({left}) OR ({right})"),
        };
    }
    let operator = ["=", "!=", "<", "<=", ">", ">="][rng.usize(..6)];
    match rng.u8(0..8) {
        0 => format!(
            "IS_DEFINED({})",
            ["c.text", "c.nested.x", "c.none"][rng.usize(..3)]
        ),
        1 => format!("STARTSWITH(c.text, 't{}')", ["", "1", "2"][rng.usize(..3)]),
        2 => "c.n IN (1, 2, 17)".to_owned(),
        3 => format!("c.text {operator} 't{}'", rng.u8(0..4)),
        4 => format!("c.pk {operator} '{}'", rng.u8(0..12)),
        5 => format!("c.flag = {}", rng.bool()),
        _ => format!(
            "c.n {operator} {}",
            ["3", "10", "2.5", "-1"][rng.usize(..4)]
        ),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_find_the_same_on_both_sides() {
    let mut rng = Rng::with_seed(11);
    let sides = Sides::start().await;
    let mut script = Script::default();
    for _ in 0..300 {
        script.step(&sides, &mut rng, 11).await;
    }
    let (mut compared, mut not_theirs) = (0, 0);
    for _ in 0..400 {
        let selection = [
            "*",
            "c.id, c.n",
            "VALUE c.n",
            "TOP 7 *",
            "c.id AS name, c.nested.x",
        ][rng.usize(..5)];
        let filter = condition(&mut rng, 2);
        let order = if selection.starts_with("TOP") || rng.u8(0..3) == 0 {
            " ORDER BY c.seq"
        } else {
            ""
        };
        let text = format!("SELECT {selection} FROM c WHERE {filter}{order}");
        let theirs = rows(&sides.theirs, Query::from(text.clone())).await;
        let ours = rows(&sides.ours, Query::from(text.clone())).await;
        let Ok(theirs) = theirs else {
            // The core knows less of the language than we do.
            not_theirs += 1;
            continue;
        };
        let ours = ours.unwrap_or_else(|status| panic!("{text}: {status}, they answer {theirs:?}"));
        let clean = |rows: Vec<Value>| rows.into_iter().map(bare).collect::<Vec<_>>();
        let (ours, theirs) = (clean(ours), clean(theirs));
        if order.is_empty() {
            assert_eq!(sorted(ours), sorted(theirs), "{text}");
        } else {
            assert_eq!(ours, theirs, "{text}");
        }
        compared += 1;
    }
    println!("{compared} queries compared; {not_theirs} are not theirs to answer");
    assert!(compared >= 100, "{compared}");
}
