//! The pass over the text against the obvious evaluation of a tree, and the corners by hand.

use fastrand::Rng;
use serde_json::Value;

use super::*;
use crate::change::tree::Tree;

const fn on(path: &'static [&'static str], literals: &'static [Literal]) -> Condition {
    Condition {
        path,
        test: Test::In(literals),
    }
}

const fn set(path: &'static [&'static str]) -> Condition {
    Condition {
        path,
        test: Test::Set,
    }
}

fn document(json: &str) -> Document {
    Document::from_json(json.to_owned().into())
}

fn holds(condition: Condition, json: &str) -> bool {
    let text = matches(&[condition], &document(json)).unwrap();
    // A tree has each name once: the last of it, as its parser kept it.
    let value: Value = serde_json::from_str(json).unwrap();
    let tree = Document::from_tree(serde_json::from_value::<Tree>(value).unwrap());
    assert_eq!(matches(&[condition], &tree).unwrap(), text, "{json}");
    text
}

const A: Condition = on(
    &["a"],
    &[Literal::Text("x"), Literal::Integer(7), Literal::Null],
);

#[test]
fn literals_are_compared_by_type() {
    assert!(holds(A, r#"{"a":"x"}"#));
    assert!(holds(A, r#"{"a":"\u0078"}"#));
    assert!(holds(A, r#"{"\u0061":7}"#));
    assert!(holds(A, r#"{"a":null}"#));
    for other in [
        r#"{"a":"7"}"#,
        r#"{"a":7.0}"#,
        r#"{"a":[7]}"#,
        r#"{"a":{}}"#,
        r#"{"b":7}"#,
    ] {
        assert!(!holds(A, other), "{other}");
    }
    let negative = on(&["a"], &[Literal::Integer(-1)]);
    assert!(holds(negative, r#"{"a":-1}"#));
    assert!(!holds(negative, r#"{"a":18446744073709551615}"#));
}

#[test]
fn a_mark_is_anything_but_null_and_false() {
    let mark = set(&["deleted"]);
    for marked in ["true", "0", "\"\"", "[]", "{}", "1.5"] {
        assert!(
            holds(mark, &format!(r#"{{"deleted":{marked}}}"#)),
            "{marked}"
        );
    }
    for other in [r#"{"deleted":null}"#, r#"{"deleted":false}"#, "{}"] {
        assert!(!holds(mark, other), "{other}");
    }
}

#[test]
fn the_last_field_of_a_name_counts() {
    assert!(!holds(A, r#"{"a":"x","a":"y"}"#));
    assert!(holds(A, r#"{"a":"y","a":"x"}"#));
    let deep = on(&["a", "b"], &[Literal::Bool(true)]);
    assert!(!holds(deep, r#"{"a":{"b":true},"a":{}}"#));
    assert!(!holds(deep, r#"{"a":{"b":true},"a":1}"#));
    assert!(holds(deep, r#"{"a":1,"a":{"b":true}}"#));
}

#[test]
fn all_conditions_must_hold_however_many() {
    let many = vec![A; 300];
    assert!(matches(&many, &document(r#"{"a":7}"#)).unwrap());
    let one_more: Vec<_> = many.into_iter().chain([set(&["b"])]).collect();
    assert!(!matches(&one_more, &document(r#"{"a":7}"#)).unwrap());
    assert!(matches(&[], &document("{}")).unwrap());
}

#[test]
fn what_is_no_object_is_an_error() {
    for broken in ["[1]", "7", "", r#"{"a":"#, r#"{"a":7} x"#, r#"{"b":nul}"#] {
        assert!(matches(&[A], &document(broken)).is_err(), "{broken}");
    }
}

/// The obvious way.
fn by_tree(condition: &Condition, tree: &Value) -> bool {
    let found = condition
        .path
        .iter()
        .try_fold(tree, |value, name| value.get(name));
    match (condition.test, found) {
        (_, None) => false,
        (Test::Set, Some(value)) => !value.is_null() && value != &Value::Bool(false),
        (Test::In(literals), Some(value)) => literals.iter().any(|literal| match literal {
            Literal::Text(text) => value.as_str() == Some(text),
            Literal::Integer(number) => value.as_i64() == Some(*number),
            Literal::Bool(flag) => value.as_bool() == Some(*flag),
            Literal::Null => value.is_null(),
        }),
    }
}

/// Few names and few values, so that conditions often hold and names often repeat.
fn object(rng: &mut Rng, depth: u32, json: &mut String) {
    json.push('{');
    for field in 0..rng.u32(0..5) {
        if field > 0 {
            json.push(',');
        }
        json.push_str(["\"a\":", "\"b\":", "\"c\" : "][rng.usize(0..3)]);
        match rng.u32(0..10) {
            0..4 if depth < 4 => object(rng, depth + 1, json),
            4 => {
                json.push('[');
                object(rng, depth + 1, json);
                json.push(']');
            }
            _ => json.push_str(
                [
                    "null", "true", "false", "1", "-1", "1.0", "\"x\"", "\"y\\n\"",
                ][rng.usize(0..8)],
            ),
        }
    }
    json.push('}');
}

#[test]
fn the_pass_agrees_with_a_tree() {
    const CONDITIONS: &[Condition] = &[
        set(&["a"]),
        set(&["a", "b"]),
        set(&["a", "b", "c"]),
        on(&["a"], &[Literal::Text("x"), Literal::Integer(1)]),
        on(&["b"], &[Literal::Bool(false), Literal::Null]),
        on(&["b", "a"], &[Literal::Integer(-1), Literal::Text("y\n")]),
        on(&["c", "c", "c", "c"], &[Literal::Bool(true)]),
    ];
    let mut rng = Rng::with_seed(7);
    let mut held = [0; CONDITIONS.len()];
    for _ in 0..20_000 {
        let mut json = String::new();
        object(&mut rng, 0, &mut json);
        let tree: Value = serde_json::from_str(&json).unwrap();
        let holding = scan(CONDITIONS, &document(&json)).unwrap();
        let parsed = Document::from_tree(serde_json::from_value::<Tree>(tree.clone()).unwrap());
        assert_eq!(scan(CONDITIONS, &parsed).unwrap(), holding, "{json}");
        for (index, condition) in CONDITIONS.iter().enumerate() {
            let holds = holding & (1 << index) != 0;
            assert_eq!(holds, by_tree(condition, &tree), "{condition:?} on {json}");
            held[index] += u32::from(holds);
        }
    }
    assert!(
        held.iter().all(|held| *held > 0),
        "some never held: {held:?}"
    );
}
