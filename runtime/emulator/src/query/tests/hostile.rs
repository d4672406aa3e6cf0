//! Texts that somebody sends to break something: each is answered or refused, none panics.

use fastrand::Rng;
use serde_json::{Value, json};

use super::super::token::PLACEHOLDER;
use super::{Parameter, Query};

/// How many texts are tried.
const TEXTS: u64 = 50_000;

const SEEDS: [&str; 10] = [
    "SELECT * FROM c WHERE c.a = 1 AND NOT (c.b IN ('x', \"y\", null)) OR c[\"d e\"][0] >= @p",
    "SELECT TOP @n VALUE c.a.b FROM root c WHERE STARTSWITH(c.id, 'lease', true)",
    "SELECT c.a, c.b AS x FROM c ORDER BY c.a DESC, c['b'] OFFSET 1 LIMIT 10",
    "SELECT VALUE COUNT(1) FROM c WHERE IS_DEFINED(c.a) AND c.a <> null",
    "SELECT COUNT(1) AS n, COUNT(c.x) AS m FROM c",
    "SELECT c._rid, [{\"item\": c.x}] AS orderByItems, c AS payload FROM c WHERE (true) ORDER BY c.x",
    "SELECT VALUE {\"_rid\": c._rid, \"p\": [1, -2.5e3, .5, {a: undefined}]} FROM c",
    "SELECT * FROM c WHERE c.a = 'it\\'s \\u00e9 \\ud83d\\ude00' -- comment\n /* and */ AND true",
    "SELECT c.a FROM c WHERE ((((c.a))) = [1, [2, {\"x\": {}}]])",
    "SELECT * FROM c WHERE {documentdb-formattableorderbyquery-filter} AND c.a BETWEEN 1 AND 2",
];

const PIECES: [&str; 40] = [
    "SELECT",
    "FROM",
    "WHERE",
    "NOT",
    "AND",
    "OR",
    "IN",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "@p",
    "@n",
    "@",
    "'",
    "\"",
    "\\",
    "\\u12",
    "0",
    "1e999",
    "99999999999999999999",
    "-",
    "*",
    "COUNT(",
    "IS_DEFINED(",
    "STARTSWITH(",
    "ORDER BY",
    "TOP",
    "OFFSET",
    "LIMIT",
    "VALUE",
    "--",
    "/*",
    "\u{0}",
    "😀",
    "\u{e9}",
];

fn mutated(rng: &mut Rng) -> String {
    let mut text: Vec<char> = SEEDS[rng.usize(..SEEDS.len())].chars().collect();
    for _ in 0..=rng.usize(..3) {
        let at = rng.usize(..=text.len());
        match rng.u8(..7) {
            0 => text.truncate(at),
            1 if at < text.len() => {
                text.remove(at);
            }
            2 => {
                let end = rng.usize(at..=text.len());
                text.drain(at..end.min(at + 12));
            }
            3 => {
                let end = rng.usize(at..=text.len());
                let copied = text[at..end].repeat(1 + rng.usize(..3));
                text.splice(at..at, copied);
            }
            4 => {
                let piece = PIECES[rng.usize(..PIECES.len())].repeat(1 + rng.usize(..80));
                text.splice(at..at, piece.chars());
            }
            5 => text.insert(at, rng.char(..)),
            _ => {
                let other: Vec<char> = SEEDS[rng.usize(..SEEDS.len())].chars().collect();
                let from = rng.usize(..other.len());
                text.splice(at.., other[from..].iter().copied());
            }
        }
    }
    text.into_iter().collect()
}

#[test]
fn answers_or_refuses_whatever_it_is_sent() {
    let documents = [
        json!({"id": "lease", "_rid": "x", "a": {"b": [1]}, "x": null}),
        json!({"a": true, "d e": [2], "b": "y"}),
        json!([]),
        json!("no object"),
    ];
    let (mut answered, mut refused) = (0_u64, 0_u64);
    for seed in 0..TEXTS {
        let mut rng = Rng::with_seed(seed);
        let text = mutated(&mut rng);
        let parameters = || {
            let values = [("@p", json!(1)), ("@n", json!(2)), ("@", Value::Null)];
            values
                .map(|(name, value)| Parameter {
                    name: name.into(),
                    value,
                })
                .into()
        };
        let outcome = std::panic::catch_unwind(|| match Query::parse(&text, parameters()) {
            Ok(query) => {
                query.run(documents.iter());
                // What it tells clients to send it understands, unless the text is at a limit.
                let plan = query.plan();
                let rewritten = plan["queryInfo"]["rewrittenQuery"].as_str().unwrap();
                let rewritten = rewritten.replace(PLACEHOLDER, "true");
                if !rewritten.is_empty()
                    && let Err(e) = Query::parse(&rewritten, parameters())
                {
                    assert!(e.message.contains("deeper"), "{e}: {rewritten}");
                }
                true
            }
            Err(e) => {
                assert!(!e.message.is_empty() && e.message.len() < 400, "{e}");
                false
            }
        });
        if outcome.unwrap_or_else(|_| panic!("seed {seed}: {text:?}")) {
            answered += 1;
        } else {
            refused += 1;
        }
    }
    assert!(
        answered > 2000 && refused > 20_000,
        "{answered} answered, {refused} refused"
    );
}
