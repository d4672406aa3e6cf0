//! Generated queries against a reference that shares nothing with the engine: it evaluates the
//! generated tree, not the text, over values of its own, in numbers for truths.

mod reference;
mod writer;

use fastrand::Rng;
use serde_json::{Value, json};

use super::super::token::PLACEHOLDER;
use super::{Parameter, Query};
use reference::{Plain, Truth, key};
use writer::Writer;

/// How many queries are compared, each over twelve documents.
const QUERIES: u64 = 10_000;

/// A condition as it is generated, before it is a text.
#[derive(Debug)]
enum Condition {
    Compare(Side, &'static str, Side),
    In(Side, Vec<Side>, bool),
    Is(&'static str, Side),
    Starts(Side, Side, Option<bool>),
    Holds(Side),
    Both(Box<Condition>, Box<Condition>),
    Either(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

/// A value in a condition.
#[derive(Debug)]
enum Side {
    At(Vec<Step>),
    Fixed(Value),
    Undefined,
    Condition(Box<Condition>),
}

#[derive(Clone, Debug)]
enum Step {
    Name(&'static str),
    Index(usize),
}

#[derive(Debug)]
enum Selection {
    Document,
    Value(Vec<Step>),
    Fields(Vec<(String, Vec<Step>)>),
    Count(Option<Vec<Step>>),
    Counts,
}

#[derive(Debug)]
struct Generated {
    selection: Selection,
    condition: Option<Condition>,
    order: Vec<(Vec<Step>, bool)>,
    top: Option<usize>,
    window: Option<(usize, usize)>,
}

const NAMES: [&str; 6] = ["a", "b", "c d", "order", "é", "a"];
const STRINGS: [&str; 9] = [
    "",
    "a",
    "A",
    "ab",
    "aB\"'\\",
    "b\n",
    "é",
    "\u{10000}",
    "\u{e000}",
];
const TYPES: [&str; 7] = [
    "IS_DEFINED",
    "IS_NULL",
    "IS_BOOL",
    "IS_NUMBER",
    "IS_STRING",
    "IS_ARRAY",
    "IS_OBJECT",
];

fn scalar(rng: &mut Rng) -> Value {
    match rng.u8(..12) {
        0 => Value::Null,
        1..=2 => json!(rng.bool()),
        3..=4 => json!(rng.i64(-2..3)),
        5 => json!(f64::from(rng.i8(-4..5)) / 2.0),
        6 => json!(9_007_199_254_740_991_u64 + rng.u64(..3)),
        _ => json!(STRINGS[rng.usize(..STRINGS.len())]),
    }
}

fn value(rng: &mut Rng, depth: u8) -> Value {
    match rng.u8(..8) {
        0 if depth > 0 => (0..rng.usize(..3)).map(|_| value(rng, depth - 1)).collect(),
        1 if depth > 0 => {
            let fields = (0..rng.usize(..3)).map(|_| rng.usize(..NAMES.len()));
            let fields: Vec<_> = fields.collect();
            let fields = fields
                .into_iter()
                .map(|n| (NAMES[n].to_owned(), value(rng, depth - 1)));
            Value::Object(fields.collect())
        }
        _ => scalar(rng),
    }
}

fn document(rng: &mut Rng, number: usize) -> Value {
    let mut document = json!({"id": format!("{number:02}"), "_rid": format!("{number:02}")});
    for name in NAMES {
        if rng.u8(..10) < 7 {
            document[name] = value(rng, 2);
        }
    }
    document
}

fn path(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![Step::Name(NAMES[rng.usize(..NAMES.len())])];
    while rng.u8(..5) == 0 {
        let name = Step::Name(NAMES[rng.usize(..NAMES.len())]);
        steps.push(if rng.bool() {
            name
        } else {
            Step::Index(rng.usize(..2))
        });
    }
    steps
}

fn side(rng: &mut Rng, depth: u8) -> Side {
    match rng.u8(..20) {
        0..=9 => Side::At(path(rng)),
        10 => Side::Undefined,
        11 => Side::Fixed(value(rng, 2)),
        12 if depth > 0 => Side::Condition(Box::new(condition(rng, depth - 1))),
        _ => Side::Fixed(scalar(rng)),
    }
}

fn condition(rng: &mut Rng, depth: u8) -> Condition {
    let inner = |rng: &mut Rng| Box::new(condition(rng, depth - 1));
    match rng.u8(..12) {
        0..=1 if depth > 0 => Condition::Both(inner(rng), inner(rng)),
        2..=3 if depth > 0 => Condition::Either(inner(rng), inner(rng)),
        4 if depth > 0 => Condition::Not(inner(rng)),
        5 => {
            let items = (0..=rng.usize(..4)).map(|_| side(rng, 0)).collect();
            Condition::In(side(rng, depth), items, rng.bool())
        }
        6 => Condition::Is(TYPES[rng.usize(..TYPES.len())], side(rng, depth)),
        7 => {
            let ignore_case = [None, Some(false), Some(true)][rng.usize(..3)];
            Condition::Starts(side(rng, 0), side(rng, 0), ignore_case)
        }
        8 => Condition::Holds(side(rng, 0)),
        _ => {
            let operator = ["=", "!=", "<>", "<", "<=", ">", ">="][rng.usize(..7)];
            Condition::Compare(side(rng, depth), operator, side(rng, depth))
        }
    }
}

fn generated(rng: &mut Rng) -> Generated {
    let selection = match rng.u8(..10) {
        0..=3 => Selection::Document,
        4..=5 => Selection::Value(path(rng)),
        6..=7 => {
            let fields = (0..=rng.usize(..3))
                .map(|n| (format!("f{n}"), path(rng)))
                .collect();
            Selection::Fields(fields)
        }
        8 => Selection::Count(rng.bool().then(|| path(rng))),
        _ => Selection::Counts,
    };
    let mut query = Generated {
        selection,
        condition: None,
        order: vec![],
        top: None,
        window: None,
    };
    if rng.u8(..8) > 0 {
        query.condition = Some(condition(rng, 3));
    }
    if matches!(query.selection, Selection::Count(_) | Selection::Counts) {
        return query;
    }
    if rng.bool() {
        query.order = (0..=rng.usize(..2))
            .map(|_| (path(rng), rng.bool()))
            .collect();
    }
    match rng.u8(..6) {
        0 => query.top = Some(rng.usize(..6)),
        1 => query.window = Some((rng.usize(..4), rng.usize(..6))),
        _ => {}
    }
    query
}

#[test]
fn agrees_with_the_reference() {
    let mut found = 0;
    for seed in 0..QUERIES {
        let mut rng = Rng::with_seed(seed);
        let documents: Vec<_> = (0..12).map(|number| document(&mut rng, number)).collect();
        let generated = generated(&mut rng);
        let alias = ["c", "root", "x1", "Families"][rng.usize(..4)];
        let mut writer = Writer::new(&mut rng, alias);
        let text = writer.query(&generated);
        let parameters = writer.parameters;
        let context = || format!("seed {seed}, query {text}, parameters {parameters:?}");
        let query = Query::parse(&text, parameters.clone());
        let query = query.unwrap_or_else(|e| panic!("{e}, {}", context()));
        let expected = generated.answer(&documents);
        assert_eq!(query.run(documents.iter()), expected, "{}", context());
        for document in &documents {
            assert_eq!(
                query.matches(document),
                generated.matches(document),
                "{}",
                context()
            );
        }
        let planned = planned(&query, &parameters, &documents);
        assert_eq!(planned, expected, "{}, planned {}", context(), query.plan());
        found += usize::from(!expected.is_empty());
    }
    assert!(found > 4000, "only {found} of the queries find anything");
}

/// What a client makes of the query's plan and two ranges.
fn planned(query: &Query, parameters: &[Parameter], documents: &[Value]) -> Vec<Value> {
    let plan = query.plan();
    let info = &plan["queryInfo"];
    let rewritten = info["rewrittenQuery"].as_str().unwrap();
    let rewritten = match rewritten {
        "" => query.clone(),
        text => Query::parse(&text.replace(PLACEHOLDER, "true"), parameters.to_vec())
            .unwrap_or_else(|e| panic!("{e}: {text}")),
    };
    let (left, right) = documents.split_at(5);
    let mut rows = rewritten.run(left.iter());
    rows.extend(rewritten.run(right.iter()));
    if info["aggregates"] == json!(["Count"]) {
        let counts = rows.iter().map(|row| row[0]["item"].as_u64().unwrap());
        return vec![json!(counts.sum::<u64>())];
    }
    if info["groupByAliasToAggregateType"]["n"] == "Count" {
        let counts = rows
            .iter()
            .map(|row| row["payload"]["n"]["item"].as_u64().unwrap());
        return vec![json!({"n": counts.sum::<u64>()})];
    }
    let directions = info["orderBy"].as_array().unwrap();
    if !directions.is_empty() {
        // The place in which clients merge rows: keys, then resource ids in the first direction.
        let mut keyed: Vec<_> = rows
            .into_iter()
            .map(|row| {
                let items = row["orderByItems"].as_array().unwrap().iter();
                let keys: Vec<_> = items
                    .map(|item| key(&Plain::of(item.get("item"))))
                    .collect();
                (keys, row)
            })
            .collect();
        keyed.sort_by(|(a, a_row), (b, b_row)| {
            let rids = a_row["_rid"].as_str().cmp(&b_row["_rid"].as_str());
            let keys = a.iter().zip(b).map(|(a, b)| a.cmp(b)).chain([rids]);
            let descending = directions
                .iter()
                .chain([&directions[0]])
                .map(|d| d == "Descending");
            let place = keys
                .zip(descending)
                .map(|(o, d)| if d { o.reverse() } else { o });
            place.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        rows = keyed
            .into_iter()
            .map(|(_, row)| row["payload"].clone())
            .collect();
    }
    if let Some(offset) = info["offset"].as_u64() {
        rows.drain(..rows.len().min(usize::try_from(offset).unwrap()));
    }
    if let Some(limit) = info["top"].as_u64().or(info["limit"].as_u64()) {
        rows.truncate(usize::try_from(limit).unwrap());
    }
    rows
}

#[test]
fn the_reference_is_right_about_truths() {
    let truths = [Truth::FALSE, Truth::UNDEFINED, Truth::TRUE];
    assert!(truths[0] < truths[1] && truths[1] < truths[2]);
    assert_eq!(
        truths.map(Truth::negated),
        [Truth::TRUE, Truth::UNDEFINED, Truth::FALSE]
    );
}
