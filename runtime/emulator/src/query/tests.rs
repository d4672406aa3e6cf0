//! Construct by construct; `generated` compares thousands of queries with a naive evaluation, and
//! `hostile` sends texts that are no queries.

mod generated;
mod hostile;
mod plans;
mod refusals;

use serde_json::{Value, json};

use super::{Parameter, Query};

fn query(text: &str) -> Query {
    Query::parse(text, vec![]).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn with(text: &str, parameters: Value) -> Query {
    let Value::Object(parameters) = parameters else {
        panic!("parameters are an object")
    };
    let parameters = parameters
        .into_iter()
        .map(|(name, value)| Parameter { name, value });
    Query::parse(text, parameters.collect()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn error(text: &str) -> String {
    match Query::parse(text, vec![]) {
        Ok(_) => panic!("{text} is no error"),
        Err(e) => e.message,
    }
}

fn run(text: &str, documents: &[Value]) -> Vec<Value> {
    query(text).run(documents.iter())
}

/// Whether the condition holds for the document; a truth that is undefined does not.
fn holds(condition: &str, document: &Value) -> bool {
    query(&format!("SELECT * FROM c WHERE {condition}")).matches(document)
}

/// Whether the condition is undefined: neither it nor its negation holds.
fn undefined(condition: &str, document: &Value) -> bool {
    let negated = holds(&format!("NOT ({condition})"), document);
    !holds(condition, document) && !negated
}

fn people() -> Vec<Value> {
    vec![
        json!({"id": "1", "name": "Ada", "age": 36, "tags": ["x", "y"], "a b": 1}),
        json!({"id": "2", "name": "bob", "age": 7.0, "home": {"city": "Bonn"}}),
        json!({"id": "3", "name": null}),
        json!({"id": "4", "age": "old"}),
    ]
}

#[test]
fn selects_documents_values_and_fields() {
    let people = people();
    assert_eq!(run("SELECT * FROM c", &people), people);
    assert_eq!(run("select value p from root p", &people), people);
    assert_eq!(
        run("SELECT VALUE c.name FROM c", &people),
        [json!("Ada"), json!("bob"), json!(null)],
        "a row without a value is no row"
    );
    assert_eq!(
        run(
            "SELECT c.id, c.home.city AS town, c[\"a b\"], c.tags[1] second FROM c",
            &people
        ),
        [
            json!({"id": "1", "a b": 1, "second": "y"}),
            json!({"id": "2", "town": "Bonn"}),
            json!({"id": "3"}),
            json!({"id": "4"}),
        ]
    );
    assert_eq!(
        run("SELECT c FROM c", &people[2..3]),
        [json!({"c": {"id": "3", "name": null}})]
    );
    assert_eq!(
        run(
            "SELECT VALUE {n: c.name, l: [c.id, c.none, 1]} FROM c -- all\n /* of them */",
            &people[3..]
        ),
        [json!({"l": ["4", 1]})]
    );
    assert_eq!(
        run("SELECT VALUE c.age > 10 FROM c", &people),
        [json!(true), json!(false)]
    );
}

#[test]
fn compares_within_one_type() {
    assert!(holds("c.x = 1", &json!({"x": 1.0})));
    assert!(holds("c.x != 2", &json!({"x": 1})));
    assert!(holds("c.x <> 'b'", &json!({"x": "a"})));
    assert!(holds(
        "c.x < 'b' AND c.x <= 'a' AND c.x > '' AND c.x >= 'a'",
        &json!({"x": "a"})
    ));
    assert!(holds("c.x > false", &json!({"x": true})));
    assert!(holds("c.x >= null", &json!({"x": null})));
    assert!(holds("c.x = -1.5e1", &json!({"x": -15})));
    assert!(holds("c.x = .5", &json!({"x": 0.5})));
    assert!(holds(
        "c.x = [1, {\"a\": null}]",
        &json!({"x": [1.0, {"a": null}]})
    ));
    assert!(holds("c.x != {a: 1}", &json!({"x": {"a": 1, "b": 2}})));
    assert!(
        holds("'\u{10000}' < '\u{e000}'", &json!({})),
        "UTF-16 code units decide"
    );
    assert!(holds(
        "c.x = c[\"y\"]",
        &json!({"x": 9_007_199_254_740_992_u64, "y": 9_007_199_254_740_993_u64})
    ));
    let compared = [
        "= '1'",
        "!= '1'",
        "< '2'",
        ">= null",
        "<> null",
        "= undefined",
        "<= true",
    ];
    for (condition, of_number) in
        compared
            .iter()
            .zip([Some(false), Some(true), None, None, Some(true), None, None])
    {
        let condition = format!("c.x {condition}");
        let document = json!({"x": 1});
        assert_eq!(
            undefined(&condition, &document),
            of_number.is_none(),
            "{condition}"
        );
        assert_eq!(
            holds(&condition, &document),
            of_number == Some(true),
            "{condition}"
        );
        assert!(undefined(&condition, &json!({})), "{condition}");
    }
    assert!(undefined("c.x < [2]", &json!({"x": [1]})));
    assert!(undefined("c.x <= {}", &json!({"x": {}})));
    assert!(!holds("c.x <> null", &json!({"x": null})));
}

#[test]
fn combines_in_three_valued_logic() {
    // t, f and u are true, false and undefined.
    let document = json!({"t": true, "f": false});
    for (condition, expected) in [
        ("c.t AND c.u", None),
        ("c.u AND c.f", Some(false)),
        ("c.u OR c.t", Some(true)),
        ("c.f OR c.u", None),
        ("NOT c.u", None),
        ("NOT c.f", Some(true)),
        ("NOT NOT c.t", Some(true)),
        ("NOT NOT NOT c.t", Some(false)),
        ("c.f AND c.f OR c.t", Some(true)),
        ("c.f AND (c.f OR c.t)", Some(false)),
        ("5 AND c.t", None),
        ("NOT 5", None),
        ("(c.t = c.f) = false", Some(true)),
    ] {
        let found = if holds(condition, &document) {
            Some(true)
        } else {
            holds(&format!("NOT ({condition})"), &document).then_some(false)
        };
        assert_eq!(found, expected, "{condition}");
    }
}

#[test]
fn looks_in_lists() {
    assert!(holds("c.x IN (1, 'a', null)", &json!({"x": "a"})));
    assert!(holds("c.x IN (c.y)", &json!({"x": [1], "y": [1.0]})));
    assert!(holds("c.x NOT IN (1, 2)", &json!({"x": "1"})));
    assert!(holds("NOT (c.x IN (1, 2))", &json!({"x": null})));
    assert!(!holds("c.x NOT IN (1, 2)", &json!({"x": 2})));
    assert!(undefined("c.x IN (1, undefined)", &json!({})));
}

#[test]
fn asks_about_types_and_prefixes() {
    let types = [
        ("IS_NULL", json!(null)),
        ("IS_BOOL", json!(false)),
        ("is_boolean", json!(true)),
        ("IS_NUMBER", json!(1)),
        ("IS_STRING", json!("")),
        ("IS_ARRAY", json!([])),
        ("IS_OBJECT", json!({})),
    ];
    for (function, value) in &types {
        for (_, other) in &types {
            let same = std::mem::discriminant(value) == std::mem::discriminant(other);
            assert_eq!(
                holds(&format!("{function}(c.x)"), &json!({"x": other})),
                same,
                "{function}"
            );
        }
        assert!(holds(&format!("NOT {function}(c.x)"), &json!({})));
        assert!(holds("IS_DEFINED(c.x)", &json!({"x": value})));
    }
    assert!(holds("STARTSWITH(c.x, 'Ab')", &json!({"x": "Abc"})));
    assert!(!holds("STARTSWITH(c.x, 'ab', false)", &json!({"x": "Abc"})));
    assert!(holds("StartsWith(c.x, 'ÄB', true)", &json!({"x": "äbc"})));
    assert!(undefined("STARTSWITH(c.x, 'a')", &json!({"x": 1})));
    assert!(undefined("STARTSWITH(c.x, c.y)", &json!({"x": "a"})));
}

#[test]
fn orders_by_type_then_value() {
    let values = [
        json!("b"),
        json!(2),
        json!({"a": 1}),
        json!(null),
        json!(10),
        json!([2]),
        json!(true),
        json!("B"),
    ];
    let mut documents: Vec<_> = values.iter().map(|x| json!({"x": x})).collect();
    documents.insert(3, json!({"none": 1}));
    let sorted = [
        json!({"none": 1}),
        json!({"x": null}),
        json!({"x": true}),
        json!({"x": 2}),
        json!({"x": 10}),
        json!({"x": "B"}),
        json!({"x": "b"}),
        json!({"x": [2]}),
        json!({"x": {"a": 1}}),
    ];
    assert_eq!(run("SELECT * FROM c ORDER BY c.x", &documents), sorted);
    let mut reversed = sorted;
    reversed.reverse();
    assert_eq!(
        run("SELECT * FROM c ORDER BY c.x DESC", &documents),
        reversed
    );
}

#[test]
fn orders_by_several_paths_and_breaks_ties_in_the_first_ones_direction() {
    let documents: Vec<_> = [(1, "a", 0), (2, "a", 1), (1, "b", 2), (1, "a", 3)]
        .map(|(x, y, n)| json!({"x": x, "y": y, "n": n}))
        .into();
    let orders = [
        ("c.x ASC, c.y DESC", [2, 0, 3, 1]),
        ("c.x DESC, c.y", [1, 3, 0, 2]),
        ("c.x", [0, 2, 3, 1]),
        ("c.x DESC", [1, 3, 2, 0]),
    ];
    for (order, expected) in orders {
        let found = run(
            &format!("SELECT VALUE c.n FROM c ORDER BY {order}"),
            &documents,
        );
        assert_eq!(found, expected.map(Value::from), "{order}");
    }
}

#[test]
fn cuts_off_rows_by_top_and_window() {
    let documents: Vec<_> = (0..5)
        .map(|n| if n == 1 { json!({}) } else { json!({"n": n}) })
        .collect();
    let rows = |text: &str| run(text, &documents);
    assert_eq!(rows("SELECT TOP 2 VALUE c.n FROM c"), [json!(0), json!(2)]);
    assert_eq!(
        rows("SELECT VALUE c.n FROM c OFFSET 1 LIMIT 2"),
        [json!(2), json!(3)]
    );
    assert_eq!(
        rows("SELECT VALUE c.n FROM c ORDER BY c.n DESC OFFSET 3 LIMIT 9"),
        [json!(0)]
    );
    assert!(rows("SELECT TOP 0 * FROM c").is_empty());
    let found = with("SELECT TOP @n VALUE c.n FROM c", json!({"@n": 1.0}));
    assert_eq!(found.run(documents.iter()), [json!(0)]);
    let found = with(
        "SELECT VALUE c.n FROM c OFFSET @o LIMIT @l",
        json!({"o": 3, "l": 1, "unused": []}),
    );
    assert_eq!(found.run(documents.iter()), [json!(4)]);
    assert_eq!((found.window(), found.top()), (Some((3, 1)), None));
}

#[test]
fn counts() {
    let people = people();
    assert_eq!(run("SELECT VALUE COUNT(1) FROM c", &people), [json!(4)]);
    assert_eq!(
        run("SELECT VALUE COUNT(1) FROM c WHERE c.none", &people),
        [json!(0)]
    );
    assert_eq!(run("SELECT COUNT(1) FROM c", &people), [json!({"$1": 4})]);
    assert_eq!(
        run(
            "SELECT COUNT(1) AS n, COUNT(c.age) ages, 'x' AS y FROM c",
            &people
        ),
        [json!({"n": 4, "ages": 3, "y": "x"})]
    );
    assert_eq!(
        run("SELECT VALUE [{\"item\": COUNT(1)}] FROM c", &people),
        [json!([{"item": 4}])]
    );
    let found = run(
        "SELECT {\"n\": {\"item\": COUNT(1)}} AS payload FROM c",
        &people,
    );
    assert_eq!(found, [json!({"payload": {"n": {"item": 4}}})]);
}

#[test]
fn takes_parameters_wherever_a_value_stands() {
    let document = json!({"id": "lease.1", "x": {"y": [7]}, "z": null});
    let values =
        json!({"@p": "lease", "@k": "y", "@i": 0, "@v": 7, "@t": true, "@o": {"y": [7.0]}});
    for condition in [
        "STARTSWITH(c.id, @p, @t)",
        "c.x[@k][@i] = @v",
        "c.x = @o",
        "@v IN (c.x.y[0])",
        "c.x.y IN ([@v])",
        "@t",
    ] {
        let text = format!("SELECT * FROM c WHERE {condition}");
        assert!(
            with(&text, values.clone()).matches(&document),
            "{condition}"
        );
    }
    let leases = "SELECT TOP @Top * FROM c WHERE STARTSWITH(c.id, @p) AND c.token <> null";
    let leases = with(leases, json!({"@Top": 5, "@p": "lease"}));
    let documents = [
        document,
        json!({"id": "lease.2", "token": null}),
        json!({"id": "lease.3", "token": "t"}),
    ];
    assert_eq!(leases.run(documents.iter()), documents[2..]);
}

#[test]
fn resolves_escapes_and_names() {
    assert!(holds(
        r#"c.x = "a\"b'\u00e9\n\/\ud83d\ude00""#,
        &json!({"x": "a\"b'é\n/😀"})
    ));
    assert!(holds(r"c.x = 'it\'s \u0027'", &json!({"x": "it's '"})));
    assert!(holds(
        "c.order.value = c['order'].Value",
        &json!({"order": {"value": 1, "Value": 1.0}})
    ));
    assert!(!holds("c.X = 1", &json!({"x": 1})));
    assert!(undefined("c.x.length = 1", &json!({"x": "a"})));
    assert!(undefined("c.x['0'] = 1", &json!({"x": [1]})));
    assert!(undefined("c.x[9] = 1", &json!({"x": [1]})));
}

#[test]
fn bounds_what_it_reads() {
    let deep = |levels: usize| {
        let (open, close) = ("(".repeat(levels), ")".repeat(levels));
        format!("SELECT * FROM c WHERE {open}true{close}")
    };
    assert!(Query::parse(&deep(63), vec![]).is_ok());
    assert!(error(&deep(64)).starts_with("nested deeper than 64 levels"));
    assert!(error(&deep(100_000)).starts_with("nested deeper than 64 levels"));
    let nots = format!("SELECT * FROM c WHERE {} true", "NOT ".repeat(60_000));
    assert!(query(&nots).matches(&json!({})));
    let list = |values: usize| {
        format!(
            "SELECT * FROM c WHERE c.x IN (0{})",
            ",1".repeat(values - 1)
        )
    };
    assert!(Query::parse(&list(16_384), vec![]).is_ok());
    assert!(error(&list(16_385)).starts_with("more than 16384 values after IN"));
    let long = format!("SELECT * FROM c{}", " ".repeat(256 * 1024));
    assert_eq!(
        error(&long),
        "the query is 262159 bytes long, the limit is 262144"
    );
    let twice = ["@p", "p"].map(|name| Parameter {
        name: name.into(),
        value: json!(1),
    });
    let twice = Query::parse("SELECT * FROM c", twice.into()).unwrap_err();
    assert_eq!(twice.to_string(), "the parameter `@p` is given twice");
}
