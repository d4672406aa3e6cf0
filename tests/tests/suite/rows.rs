//! Row projections on SQLite and PostgreSQL, end to end: what the tables show is what the collection holds.

use std::collections::BTreeMap;

use projectionist::prelude::*;
use projectionist_runtime::testing;
use serde_json::{Value, json};

#[projection(
    collection = "users",
    name = "accounts",
    table = "accounts",
    only(type = "user"),
    start = now,
    register = false
)]
#[on_delete(remove)]
struct Account {
    #[column(key, from = "tenantId")]
    tenant: String,
    #[column(key, from = "login")]
    login: String,
    #[column(from = "contact.email")]
    email: Option<String>,
    seats: i64,
    #[column(each = "roles", table = "account_roles")]
    roles: Vec<Role>,
    #[column(each = "devices", table = "account_devices")]
    devices: Vec<Device>,
}

#[derive(ProjectionRow)]
struct Role {
    #[column(key)]
    role: String,
    since: Option<i64>,
}

#[derive(ProjectionRow)]
struct Device {
    kind: String,
}

fn user(id: &str, login: &str, seats: i64) -> Value {
    json!({
        "id": id, "type": "user", "tenantId": "t", "login": login, "seats": seats,
        "contact": {"email": format!("{login}@example.com")},
        "roles": [{"role": "reader"}, {"role": "writer", "since": seats}],
        "devices": (0..seats % 3).map(|n| json!({"kind": format!("d{n}")})).collect::<Vec<_>>(),
    })
}

/// The databases that there are: SQLite always, PostgreSQL where the test command has started one.
#[derive(Clone, Debug)]
enum On {
    Sqlite,
    Postgres(String),
}

impl On {
    fn all() -> Vec<Self> {
        let server = std::env::var("PROJECTIONIST_POSTGRES").ok();
        if server.is_none() {
            println!("not run on PostgreSQL: PROJECTIONIST_POSTGRES names no server");
        }
        std::iter::once(Self::Sqlite)
            .chain(server.map(Self::Postgres))
            .collect()
    }

    async fn start(&self, builder: testing::Builder) -> testing::Projector {
        match self {
            Self::Sqlite => builder.sqlite().await.unwrap(),
            Self::Postgres(url) => builder.postgres(url).await.unwrap(),
        }
    }

    async fn accounts(&self) -> testing::Projector {
        let builder = testing::Projector::of::<Account>().partition_key("/tenantId");
        self.start(builder).await
    }
}

type Row = (String, String, Option<String>, i64);

async fn rows(t: &mut testing::Projector) -> Vec<Row> {
    let sql = "select tenant, login, email, seats from accounts order by login";
    t.rows(sql).await.unwrap()
}

#[tokio::test]
async fn a_row_follows_its_document() {
    for on in On::all() {
        follows_on(&on).await;
    }
}

async fn follows_on(on: &On) {
    let mut t = on.accounts().await;
    t.upsert(user("ada", "ada", 4)).await.unwrap();
    t.upsert(json!({"id": "order", "type": "order", "tenantId": "t"}))
        .await
        .unwrap();
    t.deliver_twice().settle().await.unwrap();
    let row = |login: &str, seats| {
        let email = Some(format!("{login}@example.com"));
        ("t".to_owned(), login.to_owned(), email, seats)
    };
    assert_eq!(rows(&mut t).await, [row("ada", 4)]);
    let roles = "select login, role, since from account_roles order by role";
    let roles: Vec<(String, String, Option<i64>)> = t.rows(roles).await.unwrap();
    assert_eq!(
        roles,
        [
            ("ada".to_owned(), "reader".to_owned(), None),
            ("ada".to_owned(), "writer".to_owned(), Some(4))
        ]
    );
    // Its own key changes, and its arrays.
    t.upsert(user("ada", "lovelace", 5)).await.unwrap();
    assert_eq!(rows(&mut t).await, [row("lovelace", 5)]);
    let devices = "select tenant, login, position, kind from account_devices order by position";
    let devices: Vec<(String, String, i64, String)> = t.rows(devices).await.unwrap();
    let device = |position: i64| {
        let kind = format!("d{position}");
        ("t".to_owned(), "lovelace".to_owned(), position, kind)
    };
    assert_eq!(devices, [device(0), device(1)]);
    // What matches no more is gone, and so is what is deleted.
    let mut other = user("ada", "lovelace", 5);
    other["type"] = json!("former");
    t.upsert(other).await.unwrap();
    assert!(rows(&mut t).await.is_empty());
    t.upsert(user("ada", "ada", 1)).await.unwrap();
    assert_eq!(rows(&mut t).await, [row("ada", 1)]);
    t.delete("ada", "t").await.unwrap();
    assert!(rows(&mut t).await.is_empty());
    for table in ["account_roles", "account_devices"] {
        let count: Vec<i64> = t
            .rows(&format!("select count(*) from {table}"))
            .await
            .unwrap();
        assert_eq!(count, [0], "{table}");
    }
    assert!(t.dead_letters().await.unwrap().is_empty());
}

/// P3: the row of whoever was first stays, the other becomes a letter that names both, and the feed goes on.
#[tokio::test]
async fn two_documents_of_one_key_are_a_letter_that_names_both() {
    for on in On::all() {
        clashes_on(&on).await;
    }
}

async fn clashes_on(on: &On) {
    let mut t = on.accounts().await;
    t.upsert(user("first", "ada", 1)).await.unwrap();
    t.settle().await.unwrap();
    t.upsert(user("second", "ada", 2)).await.unwrap();
    t.upsert(user("third", "bob", 3)).await.unwrap();
    let mut twice = user("fourth", "eve", 4);
    twice["roles"] = json!([{"role": "reader"}, {"role": "reader"}]);
    t.upsert(twice).await.unwrap();
    let logins: Vec<_> = rows(&mut t)
        .await
        .into_iter()
        .map(|row| (row.1, row.3))
        .collect();
    assert_eq!(logins, [("ada".to_owned(), 1), ("bob".to_owned(), 3)]);
    let letters = t.dead_letters().await.unwrap();
    let told: Vec<_> = letters
        .iter()
        .map(|letter| {
            (
                letter.content.document_id.as_str(),
                letter.content.errors[0].as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "second",
                "the key (tenant = t, login = ada) of table `accounts` belongs to document `first` of partition key [\"t\"]: two documents cannot have one row"
            ),
            (
                "fourth",
                "two items of one array have the same key in table `account_roles`"
            )
        ]
    );
    // Keys that change hands between the documents of one page are no clash, whatever their order.
    t.upsert(user("third", "carl", 3)).await.unwrap();
    t.upsert(user("first", "bob", 1)).await.unwrap();
    t.upsert(user("fifth", "ada", 5)).await.unwrap();
    let logins: Vec<_> = rows(&mut t)
        .await
        .into_iter()
        .map(|row| (row.1, row.3))
        .collect();
    assert_eq!(
        logins,
        [
            ("ada".to_owned(), 5),
            ("bob".to_owned(), 1),
            ("carl".to_owned(), 3)
        ]
    );
    assert_eq!(t.dead_letters().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_does_not_fit_is_a_letter_and_the_row_of_before_stays() {
    for on in On::all() {
        does_not_fit_on(&on).await;
    }
}

async fn does_not_fit_on(on: &On) {
    let mut t = on.accounts().await;
    t.upsert(user("ada", "ada", 1)).await.unwrap();
    let mut wrong = user("ada", "ada", 2);
    wrong["seats"] = json!("two");
    t.upsert(wrong).await.unwrap();
    assert_eq!(rows(&mut t).await.len(), 1);
    let letters = t.dead_letters().await.unwrap();
    assert_eq!(letters.len(), 1);
    let error = &letters[0].content.errors[0];
    assert!(error.starts_with("the field `seats`: "), "{error}");
    assert!(letters[0].content.body.is_some());
}

/// What one database holds and another does not is no reason for the range to stop.
#[tokio::test]
async fn what_the_database_cannot_hold_is_a_letter() {
    for on in On::all() {
        let mut t = on.accounts().await;
        let mut odd = user("odd", "odd", 2);
        odd["contact"]["email"] = json!("zero \u{0} in it");
        t.upsert(user("before", "before", 1)).await.unwrap();
        t.upsert(odd).await.unwrap();
        let mut odd = user("device", "device", 1);
        odd["devices"] = json!([{"kind": "a\u{0}b"}]);
        t.upsert(odd).await.unwrap();
        t.upsert(user("id\u{0}", "id", 1)).await.unwrap();
        t.upsert(user("after", "after", 1)).await.unwrap();
        let logins: Vec<_> = rows(&mut t).await.into_iter().map(|row| row.1).collect();
        let letters = t.dead_letters().await.unwrap();
        if matches!(on, On::Sqlite) {
            assert_eq!(logins, ["after", "before", "device", "id", "odd"]);
            assert!(letters.is_empty(), "{letters:?}");
            continue;
        }
        assert_eq!(logins, ["after", "before"]);
        let told: Vec<_> = letters
            .iter()
            .map(|letter| letter.content.errors[0].as_str())
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(
            told[2],
            "its id holds a zero character, and PostgreSQL none"
        );
        assert!(
            told[0].starts_with("table `accounts` cannot hold its row: "),
            "{told:?}"
        );
        assert!(
            told[1].starts_with("table `account_devices` cannot hold its items: "),
            "{told:?}"
        );
        // Nor is its delete.
        t.delete("id\u{0}", "t").await.unwrap();
        assert_eq!(rows(&mut t).await.len(), 2);
    }
}

#[projection(
    collection = "users",
    name = "kept",
    table = "kept",
    soft_delete(deleted),
    register = false
)]
#[on_delete(set(active = false, note = "gone", seats = null))]
struct Kept {
    #[column(key)]
    id: String,
    #[column(default = true)]
    active: bool,
    #[column(default)]
    note: String,
    seats: Option<i64>,
}

/// By a soft delete, so the latest version is enough and it begins at the beginning.
#[tokio::test]
async fn a_delete_may_leave_the_row_marked() {
    for on in On::all() {
        is_marked_on(&on).await;
    }
}

async fn is_marked_on(on: &On) {
    let mut t = on.start(testing::Projector::of::<Kept>()).await;
    t.upsert(json!({"id": "a", "seats": 3})).await.unwrap();
    t.upsert(json!({"id": "b", "seats": 4})).await.unwrap();
    t.upsert(json!({"id": "b", "seats": 4, "deleted": true}))
        .await
        .unwrap();
    let sql = "select id, active, note, seats from kept order by id";
    let rows: Vec<(String, bool, String, Option<i64>)> = t.rows(sql).await.unwrap();
    // What was deleted before it was ever seen is no row.
    assert_eq!(rows, [("a".to_owned(), true, String::new(), Some(3))]);
    t.upsert(json!({"id": "a", "seats": 5, "deleted": true}))
        .await
        .unwrap();
    let rows: Vec<(String, bool, String, Option<i64>)> = t.rows(sql).await.unwrap();
    assert_eq!(rows, [("a".to_owned(), false, "gone".to_owned(), None)]);
    t.upsert(json!({"id": "a", "seats": 6})).await.unwrap();
    let rows: Vec<(String, bool, String, Option<i64>)> = t.rows(sql).await.unwrap();
    assert_eq!(rows, [("a".to_owned(), true, String::new(), Some(6))]);
}

/// Random writes and deletes, with keys that wander, in pages of every size: the tables equal the collection, but for
/// rows whose documents clash.
#[tokio::test]
async fn tables_equal_the_collection() {
    for on in On::all() {
        equals_on(&on).await;
    }
}

async fn equals_on(on: &On) {
    for seed in 0..12 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let builder = testing::Projector::of::<Account>()
            .partition_key("/tenantId")
            .ranges(2)
            .batch(rng.u32(1..20));
        let mut t = on.start(builder).await;
        let mut documents: BTreeMap<String, (String, i64)> = BTreeMap::new();
        for _ in 0..300 {
            let id = format!("u{}", rng.u8(0..12));
            if rng.u8(0..5) == 0 {
                if documents.remove(&id).is_some() {
                    t.delete(&id, "t").await.unwrap();
                }
            } else {
                // A login that nobody has at this moment: then no two documents ever clash.
                let login = format!("l{}", rng.u8(0..16));
                let taken = documents
                    .iter()
                    .any(|(other, (has, _))| *other != id && *has == login);
                let login = if taken { format!("own-{id}") } else { login };
                let seats = rng.i64(0..100);
                t.upsert(user(&id, &login, seats)).await.unwrap();
                documents.insert(id, (login, seats));
            }
            if rng.u8(0..20) == 0 {
                t.settle().await.unwrap();
            }
            if rng.u8(0..60) == 0 {
                t.restart().await.unwrap();
            }
        }
        let letters = t.dead_letters().await.unwrap();
        assert!(letters.is_empty(), "seed {seed}: {letters:?}");
        let found: Vec<(String, i64)> = t
            .rows("select login, seats from accounts order by login")
            .await
            .unwrap();
        let mut expected: Vec<_> = documents.values().cloned().collect();
        expected.sort();
        assert_eq!(found, expected, "seed {seed}");
        let found: Vec<(String, i64)> = t
            .rows("select login, count(*) from account_devices group by login order by login")
            .await
            .unwrap();
        let mut expected: Vec<_> = documents
            .values()
            .map(|(login, seats)| (login.clone(), seats % 3))
            .filter(|(_, devices)| *devices > 0)
            .collect();
        expected.sort();
        assert_eq!(found, expected, "seed {seed}");
    }
}
