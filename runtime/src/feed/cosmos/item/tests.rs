//! Items in every form that a source describes, and in some that none does.

use azure_data_cosmos::models::ChangeFeedItem;
use projectionist::change::{Operation, RawChange};
use projectionist::needs::Mode;
use serde_json::{Value, json};

use super::{Body, KeyPaths, changes};

const AVAD: Mode = Mode::AllVersionsAndDeletes;

fn of(items: Value, mode: Mode, paths: &[&'static str]) -> Vec<RawChange> {
    let items: Vec<ChangeFeedItem<Body>> = serde_json::from_value(items).unwrap();
    let paths: Vec<_> = paths.iter().map(|path| (*path).into()).collect();
    changes(&items, mode, &KeyPaths::new(&paths))
}

fn one(item: &Value, mode: Mode) -> RawChange {
    of(json!([item]), mode, &["/pk"]).remove(0)
}

fn text(change: &RawChange) -> Option<String> {
    let body = change.current.as_ref()?.json();
    Some(String::from_utf8_lossy(&body).into_owned())
}

#[test]
fn a_create_and_a_replace_carry_everything() {
    let create = json!({
        "current": {"id": "1", "pk": "a", "_etag": "\"e1\"", "_ts": 5, "n": 1.5},
        "metadata": {"operationType": "create", "lsn": 7, "crts": 1_764_547_200, "previousImageLSN": 0, "timeToLiveExpired": false}
    });
    let change = one(&create, AVAD);
    assert_eq!(change.operation, Operation::Create);
    assert_eq!((&*change.id, &*change.partition_key), ("1", "[\"a\"]"));
    assert_eq!(change.etag.as_deref(), Some("\"e1\""));
    assert_eq!((change.sequence, change.ordinal), (Some(7), 0));
    assert_eq!(change.timestamp.as_second(), 1_764_547_200);
    assert!(change.previous.is_none() && !change.expired);
    assert!(text(&change).unwrap().contains("\"n\":1.5"));

    for previous in [json!(null), json!({})] {
        let replace = json!({
            "current": {"id": "1", "pk": "a"}, "previous": previous,
            "metadata": {"operationType": "replace", "lsn": 8, "crts": 1}
        });
        let change = one(&replace, AVAD);
        assert_eq!(change.operation, Operation::Replace);
        assert!(change.previous.is_none());
    }
    let replace = json!({
        "current": {"id": "1", "pk": "a"}, "previous": {"id": "1", "pk": "a", "n": 1},
        "metadata": {"operationType": "replace", "lsn": 8}
    });
    assert!(one(&replace, AVAD).previous.is_some());
}

#[test]
fn a_delete_is_named_by_its_metadata_in_every_form() {
    let forms = [
        (json!({"pk": "1"}), "[\"1\"]"),
        (json!(["1"]), "[\"1\"]"),
        (json!("1"), "[\"1\"]"),
        (json!(7), "[7]"),
        (json!([7.0]), "[7]"),
        (json!([-0.0]), "[0]"),
        (json!([7.5]), "[7.5]"),
        (json!([true]), "[true]"),
        (json!({"pk": null}), "[null]"),
        (json!([null]), "[null]"),
        (json!([{}]), "[{}]"),
        (json!({}), "[{}]"),
        (json!(["a\"b\n"]), "[\"a\\\"b\\n\"]"),
    ];
    for (key, expected) in forms {
        for current in [
            None,
            Some(json!(null)),
            Some(json!({})),
            Some(json!({"id": "x", "pk": "1"})),
        ] {
            let mut item = json!({"metadata": {
                "operationType": "delete", "lsn": 9, "crts": 3, "previousImageLSN": 8,
                "timeToLiveExpired": true, "id": "x", "partitionKey": key.clone(),
            }});
            if let Some(current) = current {
                item["current"] = current;
            }
            let change = one(&item, AVAD);
            assert_eq!(change.operation, Operation::Delete);
            assert_eq!(
                (&*change.id, &*change.partition_key),
                ("x", expected),
                "{key}"
            );
            assert!(change.current.is_none() && change.etag.is_none());
            assert!(change.expired);
            assert_eq!(change.sequence, Some(9));
        }
    }
}

#[test]
fn a_delete_without_names_is_named_by_what_it_carries() {
    let item = json!({"current": {}, "previous": {"id": "x", "pk": 3, "_etag": "e"}, "metadata": {"operationType": "delete", "lsn": 9}});
    let change = one(&item, AVAD);
    assert_eq!((&*change.id, &*change.partition_key), ("x", "[3]"));
    assert!(change.previous.is_some() && change.etag.is_none());
}

#[test]
fn a_key_has_one_text_whether_it_comes_from_a_document_or_from_a_delete() {
    let paths = ["/tenant", "/address/city"];
    let items = json!([
        {"current": {"id": "1", "tenant": 7.0, "address": {"city": "Ulm"}}, "metadata": {"operationType": "create", "lsn": 1}},
        {"metadata": {"operationType": "delete", "lsn": 2, "id": "1", "partitionKey": {"tenant": 7, "address": {"city": "Ulm"}}}},
        {"metadata": {"operationType": "delete", "lsn": 3, "id": "1", "partitionKey": {"tenant": 7, "address/city": "Ulm"}}},
        {"metadata": {"operationType": "delete", "lsn": 4, "id": "1", "partitionKey": [7, "Ulm"]}},
        {"current": {"id": "1", "tenant": 7}, "metadata": {"operationType": "create", "lsn": 5}},
        {"metadata": {"operationType": "delete", "lsn": 6, "id": "1", "partitionKey": {"tenant": 7}}},
    ]);
    let keys: Vec<_> = of(items, AVAD, &paths)
        .into_iter()
        .map(|change| change.partition_key.to_string())
        .collect();
    let (whole, part) = ("[7,\"Ulm\"]", "[7,{}]");
    assert_eq!(keys, [whole, whole, whole, whole, part, part]);
}

#[test]
fn deletes_of_one_number_are_told_apart_by_their_place() {
    let delete = |id: &str, lsn: u32| json!({"metadata": {"operationType": "delete", "lsn": lsn, "id": id, "partitionKey": ["p"]}});
    let items = json!([
        delete("a", 1),
        delete("b", 1),
        delete("a", 1),
        delete("a", 2)
    ]);
    let places: Vec<_> = of(items, AVAD, &["/pk"])
        .iter()
        .map(|change| change.ordinal)
        .collect();
    assert_eq!(places, [0, 0, 1, 0]);
}

#[test]
fn latest_versions_are_upserts_with_and_without_envelope() {
    for item in [
        json!({"current": {"id": "1", "pk": "a", "_ts": 5}, "metadata": {"lsn": 7, "crts": 5}}),
        json!({"current": {"id": "1", "pk": "a", "_ts": 5, "_lsn": 7}}),
        json!({"id": "1", "pk": "a", "_ts": 5, "_lsn": 7}),
    ] {
        let change = one(&item, Mode::LatestVersion);
        assert_eq!(change.operation, Operation::Upsert);
        assert_eq!((&*change.id, &*change.partition_key), ("1", "[\"a\"]"));
        assert_eq!(change.sequence, Some(7));
        assert_eq!(change.timestamp.as_second(), 5);
    }
}

#[test]
fn operations_of_the_future_are_writes_and_nothing_fails_a_page() {
    use Operation::{Create, Delete, Replace};

    let items = json!([
        {"current": {"id": "1"}, "metadata": {"operationType": "compact", "lsn": 1}},
        {"current": {"id": "2"}},
        {"metadata": {"lsn": 3}},
        {"current": "text", "metadata": {"operationType": "create"}},
        {"current": [1], "metadata": {"operationType": "create"}},
        {"current": {"id": 7, "_etag": 8, "_ts": "soon", "_lsn": -4}, "metadata": {"operationType": "create"}},
        3,
        null
    ]);
    let found: Vec<_> = of(items, AVAD, &["/pk"])
        .iter()
        .map(|change| (change.operation, change.id.to_string()))
        .collect();
    let expected = [
        (Replace, "1"),
        (Replace, "2"),
        (Delete, ""),
        (Create, ""),
        (Create, ""),
        (Create, ""),
        (Replace, ""),
        (Delete, ""),
    ];
    assert_eq!(
        found,
        expected.map(|(operation, id)| (operation, id.to_owned()))
    );
}
