//! What clients are told, and that the queries which they then send are answered.

use serde_json::{Value, json};

use super::super::token::PLACEHOLDER;
use super::{query, run};

fn plan(text: &str) -> Value {
    query(text).plan()
}

#[test]
fn plans_what_needs_no_rewriting() {
    assert_eq!(
        plan("SELECT * FROM c WHERE c.x = 1"),
        json!({
            "partitionedQueryExecutionInfoVersion": 2,
            "queryInfo": {
                "distinctType": "None", "top": null, "offset": null, "limit": null,
                "orderBy": [], "orderByExpressions": [],
                "groupByExpressions": [], "groupByAliases": [], "aggregates": [],
                "groupByAliasToAggregateType": {}, "rewrittenQuery": "",
                "hasSelectValue": false, "dCountInfo": null, "hasNonStreamingOrderBy": false,
            },
            "queryRanges": [{"min": "", "max": "FF", "isMinInclusive": true, "isMaxInclusive": false}],
        })
    );
    let top = plan("SELECT TOP 3 VALUE c.x FROM c");
    assert_eq!(top["queryInfo"]["top"], 3);
    assert_eq!(top["queryInfo"]["rewrittenQuery"], "");
    assert_eq!(top["queryInfo"]["hasSelectValue"], true);
    assert!(query("SELECT VALUE c.x FROM c").is_plain());
    assert!(!query("SELECT TOP 3 * FROM c").is_plain());
}

#[test]
fn plans_windows_orders_and_counts() {
    let info = |text: &str| plan(text)["queryInfo"].clone();
    let window = info(
        "SELECT c.a, c['b c'], c.d e FROM root c WHERE c.a = 'x\"' OR NOT (c.b) OFFSET 5 LIMIT 10",
    );
    assert_eq!(
        window["rewrittenQuery"],
        "SELECT c.a, c[\"b c\"], c.d AS e FROM c WHERE c.a = \"x\\\"\" OR NOT c.b OFFSET 0 LIMIT 15"
    );
    assert_eq!(
        (&window["offset"], &window["limit"]),
        (&json!(5), &json!(10))
    );
    let order = info(
        "SELECT TOP 2 c.a, c.b AS x FROM c WHERE c.a = 1 OR c.b ORDER BY c.a DESC, c[\"b c\"]",
    );
    assert_eq!(
        order["rewrittenQuery"],
        "SELECT TOP 2 c._rid, [{\"item\": c.a}, {\"item\": c[\"b c\"]}] AS orderByItems, \
         {\"a\": c.a, \"x\": c.b} AS payload FROM c WHERE (c.a = 1 OR c.b) AND \
         ({documentdb-formattableorderbyquery-filter}) ORDER BY c.a DESC, c[\"b c\"] ASC"
    );
    assert_eq!(order["orderBy"], json!(["Descending", "Ascending"]));
    assert_eq!(order["orderByExpressions"], json!(["c.a", "c[\"b c\"]"]));
    assert_eq!(
        info("SELECT VALUE c.n FROM c ORDER BY c.a OFFSET 1 LIMIT 2")["rewrittenQuery"],
        "SELECT c._rid, [{\"item\": c.a}] AS orderByItems, c.n AS payload FROM c WHERE \
         ({documentdb-formattableorderbyquery-filter}) AND IS_DEFINED(c.n) ORDER BY c.a ASC OFFSET 0 LIMIT 3"
    );
    let count = info("SELECT VALUE COUNT(1) FROM c WHERE c.a IN (1, 2)");
    assert_eq!(
        count["rewrittenQuery"],
        "SELECT VALUE [{\"item\": COUNT(1)}] FROM c WHERE c.a IN (1, 2)"
    );
    assert_eq!(
        (&count["aggregates"], &count["hasSelectValue"]),
        (&json!(["Count"]), &json!(true))
    );
    let count = info("SELECT COUNT(1) AS n, 5 AS m FROM c");
    assert_eq!(
        count["rewrittenQuery"],
        "SELECT {\"n\": {\"item\": COUNT(1)}, \"m\": 5} AS payload FROM c"
    );
    assert_eq!(count["groupByAliases"], json!(["n", "m"]));
    assert_eq!(
        count["groupByAliasToAggregateType"],
        json!({"n": "Count", "m": null})
    );
    assert_eq!(count["aggregates"], json!([]));
    let features = |text: &str| query(text).features();
    assert_eq!(features("SELECT VALUE COUNT(1) FROM c"), ["Aggregate"]);
    assert_eq!(features("SELECT COUNT(1) FROM c"), ["NonValueAggregate"]);
    assert_eq!(
        features("SELECT * FROM c ORDER BY c.a OFFSET 1 LIMIT 1"),
        ["OrderBy", "OffsetAndLimit"]
    );
}

/// Runs what a plan says over two ranges, as a client does.
#[test]
fn answers_its_own_rewritten_queries() {
    let documents = [
        json!({"_rid": "a", "x": "k", "n": 1}),
        json!({"_rid": "b", "n": 2}),
        json!({"_rid": "c", "x": null}),
    ];
    let text = plan("SELECT c.n FROM c ORDER BY c.x")["queryInfo"]["rewrittenQuery"].clone();
    let text = text.as_str().unwrap().replace(PLACEHOLDER, "true");
    assert_eq!(
        run(&text, &documents),
        [
            json!({"_rid": "b", "orderByItems": [{}], "payload": {"n": 2}}),
            json!({"_rid": "c", "orderByItems": [{"item": null}], "payload": {}}),
            json!({"_rid": "a", "orderByItems": [{"item": "k"}], "payload": {"n": 1}}),
        ]
    );
    // As the Java client goes on after the row with null.
    let resumed = text.replace("true", "(c.x >= null OR IS_BOOLEAN(c.x) OR IS_STRING(c.x))");
    assert_eq!(run(&resumed, &documents).len(), 2);
    // As the Rust client writes it.
    let rust = "SELECT VALUE {\"_rid\": c._rid, \"orderByItems\": [{\"item\": c.x}], \"payload\": c.n} \
                FROM c WHERE true AND IS_DEFINED(c.n) ORDER BY c.x";
    assert_eq!(run(rust, &documents).len(), 2);
}

#[test]
fn goes_on_after_a_row() {
    let documents: Vec<_> = [("a", 1), ("b", 2), ("c", 2), ("d", 3)]
        .map(|(rid, x)| json!({"_rid": rid, "x": x}))
        .into();
    let rids = |text: &str, filter: Value| -> Vec<Value> {
        let mut query = query(text);
        query.resume(&filter).unwrap();
        let rows = query.run(documents.iter());
        rows.into_iter().map(|row| row["_rid"].clone()).collect()
    };
    let ascending = "SELECT * FROM c ORDER BY c.x";
    let descending = "SELECT * FROM c ORDER BY c.x DESC";
    assert_eq!(
        rids(
            ascending,
            json!({"value": [2], "rid": "c", "exclude": false})
        ),
        ["c", "d"]
    );
    assert_eq!(
        rids(
            ascending,
            json!({"value": [2], "rid": "b", "exclude": true})
        ),
        ["c", "d"]
    );
    assert_eq!(
        rids(ascending, json!({"value": [2.0], "exclude": true})),
        ["d"]
    );
    assert_eq!(
        rids(ascending, json!({"value": [[]], "exclude": true})),
        ["a", "b", "c", "d"]
    );
    assert_eq!(
        rids(descending, json!({"value": [2], "rid": "b"})),
        ["b", "a"]
    );
    assert_eq!(
        rids(descending, json!({"value": ["s"]})),
        ["d", "c", "b", "a"]
    );
    let wrong = |text: &str, filter: Value| query(text).resume(&filter).unwrap_err().message;
    assert_eq!(
        wrong("SELECT * FROM c", json!({})),
        "resumeFilter: the query has no ORDER BY"
    );
    assert_eq!(
        wrong(ascending, json!({"value": [{}]})),
        "resumeFilter: resuming after an array or an object is not supported"
    );
}
