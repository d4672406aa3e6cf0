//! Row projections: what a document becomes, by columns.

use jiff::Timestamp;
use jiff::civil::Date;
use projectionist::change::tree::Tree;
use projectionist::prelude::*;
use projectionist::row::cell::{Cells, SqlKind};
use projectionist::row::page::RowPage;
use projectionist::row::{OnDelete, Rows};
use projectionist::{Document, Location, RawChange, States};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

#[projection(
    collection = "users",
    name = "billing",
    table = "billing_accounts",
    only(type = "user"),
    register = false
)]
#[on_delete(remove)]
struct BillingAccount {
    #[column(key, from = "tenantId")]
    tenant: String,
    #[column(key)]
    id: String,
    #[column(from = "contact.email")]
    email: Option<String>,
    #[column(from = "plan.tier", default)]
    tier: String,
    #[column(from = "plan.seats", default = 7)]
    seats: u8,
    #[column(from = "plan")]
    plan: Option<Plan>,
    #[column(from = "_ts")]
    changed_at: Timestamp,
}

#[derive(Debug, Deserialize, Serialize)]
struct Plan {
    tier: String,
    #[serde(default)]
    seats: u8,
}

#[projection(
    collection = "store",
    name = "orders",
    table = "orders",
    register = false
)]
struct Order {
    #[column(key, from = "customerId")]
    customer: Uuid,
    #[column(key)]
    id: i64,
    #[column(from = "orderDate", with = us_date)]
    ordered_on: Date,
    #[column(each = "details.items", table = "order_lines")]
    lines: Vec<Line>,
    #[column(each = "tags", table = "order_tags")]
    tags: Vec<Tag>,
    total: Decimal,
    weight: Option<f32>,
    paid: bool,
    extra: Value,
    notes: Vec<String>,
}

#[derive(ProjectionRow)]
struct Line {
    sku: String,
    #[column(from = "amount.count")]
    quantity: i64,
}

#[derive(ProjectionRow)]
struct Tag {
    #[column(key)]
    name: String,
}

fn us_date(text: &str) -> Result<Date, jiff::Error> {
    Date::strptime("%m/%d/%Y", text)
}

const _: () = assert!(matches!(BillingAccount::MODE, Mode::AllVersionsAndDeletes));
const _: () = assert!(matches!(Order::MODE, Mode::LatestVersion));

static BILLING: ProjectionDef = ProjectionDef::of::<BillingAccount>(Location { file: "", line: 0 });
static ORDERS: ProjectionDef = ProjectionDef::of::<Order>(Location { file: "", line: 0 });

fn rows(def: &'static ProjectionDef, document: &Value) -> Result<Rows, String> {
    let table = def.spec.table.as_ref().expect("it has a table");
    let projection = def.build(&States::default()).expect("it is built");
    let mut results = [
        Document::from_json(document.to_string().into()),
        Document::from_tree(serde_json::from_value::<Tree>(document.clone()).expect("it is JSON")),
    ]
    .map(|document| {
        let mut rows = Rows::new(table.columns, table.children);
        let read = projection.put_row(&document, &mut rows);
        read.map(|()| rows).map_err(|error| error.to_string())
    });
    // A text says where, a tree does not.
    let [text, tree] = &mut results;
    match (&text, &tree) {
        (Ok(a), Ok(b)) => assert_eq!(format!("{a:?}"), format!("{b:?}")),
        (Err(a), Err(b)) => assert!(a.starts_with(b.as_str()), "{a} against {b}"),
        _ => panic!("{results:?}"),
    }
    results.into_iter().next().expect("there are two")
}

fn texts(cells: &Cells) -> Vec<Option<&str>> {
    match cells {
        Cells::Text(cells) => cells.iter().map(Option::as_deref).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_table_is_what_the_struct_says() {
    let table = BILLING.spec.table.as_ref().unwrap();
    assert_eq!(table.name, "billing_accounts");
    assert_eq!(table.on_delete, OnDelete::Remove);
    let columns: Vec<_> = table
        .columns
        .iter()
        .map(|column| (column.name, column.kind, column.is_nullable, column.is_key))
        .collect();
    assert_eq!(
        columns,
        [
            ("tenant", SqlKind::Text, false, true),
            ("id", SqlKind::Text, false, true),
            ("email", SqlKind::Text, true, false),
            ("tier", SqlKind::Text, false, false),
            ("seats", SqlKind::Integer, false, false),
            ("plan", SqlKind::Json, true, false),
            ("changed_at", SqlKind::Timestamp, false, false),
        ]
    );
    let table = ORDERS.spec.table.as_ref().unwrap();
    let children: Vec<_> = table
        .children
        .iter()
        .map(|child| (child.name, child.has_position()))
        .collect();
    assert_eq!(children, [("order_lines", true), ("order_tags", false)]);
    let kinds: Vec<_> = table.columns.iter().map(|column| column.kind).collect();
    assert_eq!(
        kinds,
        [
            SqlKind::Uuid,
            SqlKind::Integer,
            SqlKind::Date,
            SqlKind::Decimal,
            SqlKind::Real,
            SqlKind::Bool,
            SqlKind::Json,
            SqlKind::Json
        ]
    );
}

#[test]
fn paths_are_read_in_one_pass_whatever_overlaps() {
    let rows = rows(
        &BILLING,
        &json!({
            "id": "ada", "type": "user", "_ts": 1_764_547_200, "more": [1, {"a": null}],
            "contact": {"email": "ada@example.com", "phone": 5},
            "plan": {"tier": "pro", "seats": 3}, "tenantId": "t1",
        }),
    )
    .unwrap();
    assert_eq!(rows.len(), 1);
    let columns = rows.columns();
    assert_eq!(texts(&columns[0]), [Some("t1")]);
    assert_eq!(texts(&columns[1]), [Some("ada")]);
    assert_eq!(texts(&columns[2]), [Some("ada@example.com")]);
    assert_eq!(texts(&columns[3]), [Some("pro")]);
    assert_eq!(columns[4], Cells::Integer(vec![Some(3)]));
    assert_eq!(texts(&columns[5]), [Some(r#"{"tier":"pro","seats":3}"#)]);
    assert_eq!(texts(&columns[6]), [Some("2025-12-01T00:00:00Z")]);
}

#[test]
fn what_is_absent_is_null_a_default_or_an_error() {
    let document = json!({"id": "ada", "tenantId": "t1", "_ts": 0});
    for plan in [
        json!(null),
        json!({"tier": null, "seats": null}),
        json!(5),
        json!([{}]),
    ] {
        let mut document = document.clone();
        document["contact"] = plan.clone();
        let rows = rows(&BILLING, &document).unwrap();
        let columns = rows.columns();
        assert_eq!(texts(&columns[2]), [None], "{plan}");
        assert_eq!(texts(&columns[3]), [Some("")]);
        assert_eq!(columns[4], Cells::Integer(vec![Some(7)]));
        assert_eq!(texts(&columns[5]), [None]);
    }
    let wrong = |document: Value| rows(&BILLING, &document).unwrap_err();
    assert_eq!(
        wrong(json!({"id": "ada", "_ts": 0})),
        "the field `tenantId` is missing"
    );
    let error = wrong(json!({"id": "ada", "tenantId": 5, "_ts": 0}));
    assert!(
        error.starts_with("the field `tenantId`: invalid type: integer `5`, expected a string"),
        "{error}"
    );
    let error = wrong(json!({"id": "ada", "tenantId": "t", "_ts": 1_764_547_200_000_i64}));
    assert!(error.starts_with("the field `_ts`: "), "{error}");
    let error = wrong(json!({"id": "a", "tenantId": "t", "_ts": 0, "plan": {"seats": 256}}));
    assert!(error.contains("`plan"), "{error}");
    assert!(rows(&BILLING, &json!([])).is_err());
}

fn order() -> Value {
    json!({
        "customerId": "67E55044-10b1-426f-9247-bb680e5fe0c8", "id": 7.0, "orderDate": "12/24/2026",
        "details": {"items": [
            {"sku": "a", "amount": {"count": 2}},
            {"sku": "b", "amount": {"count": 1.0}, "more": true},
        ]},
        "tags": [{"name": "new"}],
        "total": 0.1, "weight": 1.5, "paid": true, "extra": {"a": [1]}, "notes": ["x"],
    })
}

#[test]
fn every_type_has_its_form_and_arrays_their_tables() {
    let rows = rows(&ORDERS, &order()).unwrap();
    let columns = rows.columns();
    assert_eq!(
        texts(&columns[0]),
        [Some("67e55044-10b1-426f-9247-bb680e5fe0c8")]
    );
    assert_eq!(columns[1], Cells::Integer(vec![Some(7)]));
    assert_eq!(texts(&columns[2]), [Some("2026-12-24")]);
    assert_eq!(texts(&columns[3]), [Some("0.1")]);
    assert_eq!(columns[4], Cells::Real(vec![Some(1.5)]));
    assert_eq!(columns[5], Cells::Bool(vec![Some(true)]));
    assert_eq!(texts(&columns[6]), [Some(r#"{"a":[1]}"#)]);
    assert_eq!(texts(&columns[7]), [Some(r#"["x"]"#)]);
    let lines = &rows.children()[0];
    assert_eq!(lines.parents, [0, 0]);
    assert_eq!(lines.positions, [0, 1]);
    assert_eq!(texts(&lines.rows.columns()[0]), [Some("a"), Some("b")]);
    assert_eq!(
        lines.rows.columns()[1],
        Cells::Integer(vec![Some(2), Some(1)])
    );
    assert_eq!(texts(&rows.children()[1].rows.columns()[0]), [Some("new")]);
}

#[test]
fn decimals_are_the_shortest_that_are_the_number() {
    for (number, expected) in [
        (json!(0.1), "0.1"),
        (json!(1e-7), "0.0000001"),
        (json!(21_783_966.342_5), "21783966.3425"),
        (json!(-3), "-3"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!("12.50"), "12.50"),
    ] {
        let mut order = order();
        order["total"] = number;
        let rows = rows(&ORDERS, &order).unwrap();
        assert_eq!(texts(&rows.columns()[3]), [Some(expected)]);
    }
    for number in [json!(1e300), json!(1e-30), json!("ten"), json!(true)] {
        let mut order = order();
        order["total"] = number;
        let error = rows(&ORDERS, &order).unwrap_err();
        assert!(error.contains("a decimal of up to 28 digits"), "{error}");
    }
}

#[test]
fn a_field_that_does_not_fit_is_named_with_its_way() {
    for (path, value, says) in [
        ("/customerId", json!("x"), "the field `customerId`: "),
        ("/id", json!(7.5), "expected a whole number"),
        ("/orderDate", json!("24.12.2026"), "the field `orderDate`: "),
        ("/details/items", json!({}), "expected an array of objects"),
        (
            "/details/items/1/sku",
            json!(null),
            "the field `details.items`: the field `sku`: ",
        ),
        ("/details/items/0", json!(3), "expected an object"),
        ("/paid", json!("yes"), "expected a boolean"),
        ("/notes", json!([1]), "the field `notes`: "),
    ] {
        let mut order = order();
        *order.pointer_mut(path).unwrap() = value;
        let error = rows(&ORDERS, &order).unwrap_err();
        assert!(error.contains(says), "{path}: {error}");
    }
    // An array that is not there is empty.
    let mut order = order();
    order["details"] = json!(null);
    order["tags"] = json!(null);
    let rows = rows(&ORDERS, &order).unwrap();
    assert!(rows.children().iter().all(|child| child.rows.is_empty()));
}

fn change(operation: Operation, id: &str, document: Option<Value>) -> RawChange {
    RawChange {
        id: id.into(),
        partition_key: "[\"t\"]".into(),
        operation,
        current: document.map(|document| Document::from_json(document.to_string().into())),
        previous: None,
        etag: None,
        sequence: Some(1),
        ordinal: 0,
        timestamp: Timestamp::UNIX_EPOCH,
        expired: false,
    }
}

/// Of each document the last word counts; where that cannot be read, the word before it.
#[test]
fn of_a_document_the_last_version_that_can_be_read_counts() {
    let user = |seats: Value| {
        let plan = json!({"tier": "pro", "seats": seats});
        Some(json!({"type": "user", "id": "x", "tenantId": "t", "_ts": 0, "plan": plan}))
    };
    let other = || Some(json!({"type": "other"}));
    let changes = [
        change(Operation::Create, "twice", user(json!(1))),
        change(Operation::Create, "gone", user(json!(2))),
        change(Operation::Replace, "twice", user(json!(3))),
        change(Operation::Delete, "gone", None),
        change(Operation::Create, "leaves", user(json!(4))),
        change(Operation::Replace, "leaves", other()),
        change(Operation::Create, "broken", user(json!(5))),
        change(Operation::Replace, "broken", user(json!("many"))),
        change(Operation::Create, "never", other()),
        change(Operation::Delete, "back", None),
        change(Operation::Create, "back", user(json!(6))),
        change(Operation::Create, "bodiless", None),
    ];
    let projection = BILLING.build(&States::default()).unwrap();
    let table = BILLING.spec.table.as_ref().unwrap();
    let page = RowPage::of(table, &*projection, BILLING.spec, BILLING.hooks, &changes);
    assert_eq!(page.written, [2, 6, 10]);
    assert_eq!(
        page.rows.columns()[4],
        Cells::Integer(vec![Some(3), Some(5), Some(6)])
    );
    assert_eq!(page.deleted, [3, 5, 8]);
    let refused: Vec<_> = page.undecodable.iter().map(|found| found.index).collect();
    assert_eq!(refused, [7, 11]);
}
