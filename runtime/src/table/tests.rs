mod start;

use projectionist::filter::Literal;
use projectionist::row::cell::SqlKind;
use projectionist::row::{Child, Column, OnDelete, Table};

use super::ddl::script;
use super::dialect::Dialect;
use super::plan::TablePlan;
use super::schema::{Found, apply, inspect};
use crate::store::Store;
use crate::store::sqlite::{OpenOptions, SqliteStore};

const fn column(name: &'static str, kind: SqlKind, is_nullable: bool, is_key: bool) -> Column {
    Column {
        name,
        kind,
        is_nullable,
        is_key,
    }
}

static ORDERS: Table = Table {
    name: "orders",
    columns: &[
        column("customer", SqlKind::Uuid, false, true),
        column("id", SqlKind::Integer, false, true),
        column("total", SqlKind::Decimal, true, false),
        column("at", SqlKind::Timestamp, false, false),
        column("extra", SqlKind::Json, true, false),
    ],
    children: &[
        Child {
            name: "order_lines",
            columns: &[column("sku", SqlKind::Text, false, false)],
        },
        Child {
            name: "order_tags",
            columns: &[column("tag", SqlKind::Text, false, true)],
        },
    ],
    on_delete: OnDelete::Set(&[("extra", Literal::Null), ("total", Literal::Text("it's"))]),
};

#[test]
fn the_ddl_of_both_databases() {
    assert_eq!(
        script(&ORDERS, Dialect::Postgres),
        r#"create table "orders" (
    "projectionist_key" text not null,
    "projectionist_id" text not null,
    "customer" uuid not null,
    "id" bigint not null,
    "total" numeric,
    "at" timestamp with time zone not null,
    "extra" jsonb,
    primary key ("customer", "id"),
    unique ("projectionist_key", "projectionist_id")
);
create table "order_lines" (
    "projectionist_key" text not null,
    "projectionist_id" text not null,
    "customer" uuid not null,
    "id" bigint not null,
    "position" bigint not null,
    "sku" text not null,
    primary key ("customer", "id", "position")
);
create index on "order_lines" ("projectionist_key", "projectionist_id");
create table "order_tags" (
    "projectionist_key" text not null,
    "projectionist_id" text not null,
    "customer" uuid not null,
    "id" bigint not null,
    "tag" text not null,
    primary key ("customer", "id", "tag")
);
create index on "order_tags" ("projectionist_key", "projectionist_id");
"#
    );
    let sqlite = script(&ORDERS, Dialect::Sqlite);
    for line in [
        "    \"customer\" text not null,\n    \"id\" integer not null,\n",
        "    \"total\" text,\n    \"at\" text not null,\n    \"extra\" text,\n",
    ] {
        assert!(sqlite.contains(line), "{sqlite}");
    }
}

#[test]
fn portions_cover_every_number_once() {
    let plan = TablePlan::new(&ORDERS, Dialect::Sqlite);
    for count in 0..300 {
        let mut reached = 0;
        for (range, sql) in plan.upsert.over(count) {
            assert_eq!(range.start, reached);
            reached = range.end;
            let width = 2 + ORDERS.columns.len();
            let last = format!("${})", range.len() * width);
            assert!(sql.contains(&last), "{sql}");
            let beyond = format!("${}", range.len() * width + 1);
            assert!(!sql.contains(&beyond), "{sql}");
        }
        assert_eq!(reached, count);
    }
    let delete = |plan: &TablePlan| {
        let (range, sql) = plan.delete.as_ref().unwrap().over(1).next().unwrap();
        assert_eq!(range, 0..1);
        sql.to_owned()
    };
    assert_eq!(
        delete(&plan),
        r#"update "orders" set "extra" = null, "total" = 'it''s' where ("projectionist_key", "projectionist_id") in (values ($1, $2))"#
    );
    let plan = TablePlan::new(&ORDERS, Dialect::Postgres);
    assert_eq!(
        delete(&plan),
        r#"update "orders" set "extra" = null, "total" = 'it''s' where ("projectionist_key", "projectionist_id") in (select c1, c2 from unnest($1::text[], $2::text[]) as u (c1, c2))"#
    );
    let mut all = plan.upsert.over(5000);
    let (range, sql) = all.next().unwrap();
    assert_eq!(range, 0..5000);
    assert!(all.next().is_none());
    assert!(
        sql.contains(
            "select c1::text, c2::text, c3::uuid, c4::bigint, c5::numeric, c6::timestamptz, c7::jsonb from unnest("
        ),
        "{sql}"
    );
}

#[test]
fn a_statement_has_no_more_parameters_than_the_database_takes() {
    const MANY: [Column; 400] = [column("c", SqlKind::Text, true, true); 400];
    static WIDE: Table = Table {
        name: "wide",
        columns: &MANY,
        children: &[],
        on_delete: OnDelete::Remove,
    };
    let plan = TablePlan::new(&WIDE, Dialect::Sqlite);
    let most = plan.upsert.over(1000).map(|(range, _)| range.len()).max();
    assert_eq!(most, Some(64), "64 rows of 402 cells");
}

struct Rig {
    _dir: tempfile::TempDir,
    store: SqliteStore,
}

impl Rig {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions {
            read_only: false,
            create: true,
        };
        let store = SqliteStore::open(dir.path().join("projector.db"), options)
            .await
            .unwrap();
        Self { _dir: dir, store }
    }

    async fn inspect(&self, projection: &str, table: &Table) -> Found {
        inspect(&self.store, projection, table, Dialect::Sqlite)
            .await
            .unwrap()
    }

    async fn apply(&self, projection: &str, table: &Table) {
        let found = self.inspect(projection, table).await;
        assert!(found.obstacles.is_empty(), "{:?}", found.obstacles);
        apply(&self.store, projection, &found).await.unwrap();
    }

    async fn columns(&self, table: &str) -> Vec<String> {
        let sql = format!("select name from pragma_table_info('{table}')");
        let rows = self.store.query(&sql).await.unwrap().rows;
        rows.into_iter()
            .map(|row| format!("{:?}", row[0]))
            .collect()
    }
}

fn with(columns: Vec<Column>) -> Table {
    Table {
        columns: columns.leak(),
        ..ORDERS
    }
}

#[tokio::test]
async fn tables_are_made_once_and_columns_that_may_be_null_are_added() {
    let rig = Rig::new().await;
    let found = rig.inspect("orders", &ORDERS).await;
    assert_eq!(
        found.steps,
        [
            "make table `orders`",
            "make table `order_lines`",
            "make table `order_tags`"
        ]
    );
    rig.apply("orders", &ORDERS).await;
    let again = rig.inspect("orders", &ORDERS).await;
    assert!(
        again.steps.is_empty() && again.script.is_empty(),
        "{again:?}"
    );
    assert_eq!(again.fingerprints, found.fingerprints);

    let mut columns = ORDERS.columns.to_vec();
    columns.insert(2, column("note", SqlKind::Text, true, false));
    let wider = with(columns);
    let found = rig.inspect("orders", &wider).await;
    assert_eq!(found.steps, ["add to table `orders`: note"]);
    assert_ne!(found.fingerprints, again.fingerprints);
    rig.apply("orders", &wider).await;
    assert!(rig.inspect("orders", &wider).await.steps.is_empty());
    assert!(
        rig.columns("orders")
            .await
            .contains(&"Text(\"note\")".to_owned())
    );
}

#[tokio::test]
async fn what_rows_cannot_follow_is_refused_and_nothing_is_touched() {
    let rig = Rig::new().await;
    rig.apply("orders", &ORDERS).await;
    let before = rig.columns("orders").await;
    let changed = |at: usize, to: Column| {
        let mut columns = ORDERS.columns.to_vec();
        columns[at] = to;
        with(columns)
    };
    let mut required = ORDERS.columns.to_vec();
    required.push(column("note", SqlKind::Text, false, false));
    let mut fewer = ORDERS.columns.to_vec();
    fewer.remove(2);
    for (table, says) in [
        (
            changed(2, column("total", SqlKind::Real, true, false)),
            "table `orders`: column `total` was decimal and is real",
        ),
        (
            changed(2, column("total", SqlKind::Decimal, false, false)),
            "table `orders`: column `total` cannot be `NULL` now",
        ),
        (
            changed(3, column("at", SqlKind::Timestamp, true, false)),
            "table `orders`: column `at` can be `NULL` now",
        ),
        (
            changed(3, column("at", SqlKind::Timestamp, false, true)),
            "table `orders`: column `at` is a part of the key now",
        ),
        (
            with(required),
            "table `orders`: column `note` is new and cannot be `NULL`",
        ),
        (with(fewer), "table `orders`: column `total` is gone"),
    ] {
        let found = rig.inspect("orders", &table).await;
        assert!(found.obstacles.contains(&says.to_owned()), "{found:?}");
    }
    assert_eq!(rig.columns("orders").await, before);
    // Whose it is counts too.
    let found = rig.inspect("others", &ORDERS).await;
    assert_eq!(
        found.obstacles[0],
        "table `orders` belongs to projection `orders`"
    );
    rig.store
        .define("a test", "create table \"Mine\" (id text)")
        .await
        .unwrap();
    let mine = Table {
        name: "mine",
        children: &[],
        ..ORDERS
    };
    let found = rig.inspect("mine", &mine).await;
    assert_eq!(
        found.obstacles,
        ["table `mine` is there already, and no projection made it"]
    );
}

/// Names are names, whatever stands in them.
#[tokio::test]
async fn names_are_quoted() {
    let rig = Rig::new().await;
    let odd = Table {
        name: "or\"der; drop table projectionist_checkpoints",
        columns: vec![
            column("select", SqlKind::Text, false, true),
            column("größe", SqlKind::Real, true, false),
        ]
        .leak(),
        children: &[],
        on_delete: OnDelete::Remove,
    };
    rig.apply("odd", &odd).await;
    assert!(rig.inspect("odd", &odd).await.steps.is_empty());
    assert!(rig.store.checkpoints().await.unwrap().is_empty());
}
