//! The CosmicWorks documents through the example's projections, against the numbers that come with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rust_decimal::Decimal;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Column as _, Row as _, SqliteConnection, TypeInfo as _};

use crate::program::{Place, SHOP, sample};

const SETTINGS: &str = "
feed = \"emulator\"
store = \"sqlite\"
[collections.store]
partition_key = \"/customerId\"
ranges = 4
retention = \"7d\"
[collections.products]
partition_key = \"/categoryId\"
ranges = 2
retention = \"7d\"
";

#[tokio::test]
async fn totals_are_those_of_the_sample() {
    let Some(sample) = sample() else {
        println!("not run: there is no data/cosmicworks in $PROJECTIONIST_SHARED or ../shared");
        return;
    };
    let place = Place::new(SHOP, SETTINGS);
    for (collection, file) in [
        ("store", "customers.jsonl"),
        ("store", "sales-orders.jsonl"),
        ("products", "products.jsonl"),
    ] {
        let file = sample.join(file);
        place.succeed(&["dev", "load", collection, file.to_str().unwrap()]);
    }
    place.succeed(&["run", "--once"]);

    let customers = documents(&sample.join("customers.jsonl"));
    let orders = documents(&sample.join("sales-orders.jsonl"));
    let products = documents(&sample.join("products.jsonl"));
    let lines: usize = orders
        .iter()
        .map(|order| list(order, "details").len())
        .sum();
    assert_eq!((customers.len(), orders.len(), lines), (100, 1484, 16_615));

    let mut model = place.read_model().await;
    let expected: BTreeMap<String, i64> = customers
        .iter()
        .map(|customer| {
            let count = customer["salesOrderCount"].as_i64().unwrap();
            (customer["id"].as_str().unwrap().to_owned(), count)
        })
        .collect();
    let rows: Vec<(String, i64, String)> =
        sqlx::query_as("select customer_id, orders, revenue from order_totals")
            .fetch_all(&mut model)
            .await
            .unwrap();
    let counts: BTreeMap<String, i64> = rows
        .iter()
        .map(|(customer, orders, _)| (customer.clone(), *orders))
        .collect();
    assert_eq!(counts, expected);
    assert_eq!(counts.values().sum::<i64>(), 1484);
    let revenue: Decimal = rows
        .iter()
        .map(|(.., revenue)| revenue.parse::<Decimal>().unwrap())
        .sum();
    assert_eq!(revenue, "21783966.3425".parse().unwrap());

    // Customers lie in the same collection and are none of this projection's business.
    let order_ids: Vec<&str> = orders
        .iter()
        .map(|order| order["id"].as_str().unwrap())
        .collect();
    let amounts: Vec<String> = sqlx::query_scalar("select order_id from order_amounts")
        .fetch_all(&mut model)
        .await
        .unwrap();
    assert_eq!(amounts.len(), order_ids.len());
    assert!(amounts.iter().all(|id| order_ids.contains(&id.as_str())));
    assert!(
        customers
            .iter()
            .all(|customer| !amounts.contains(&customer["id"].as_str().unwrap().to_owned()))
    );
    let letters: i64 = sqlx::query_scalar("select count(*) from projectionist_letters")
        .fetch_one(&mut model)
        .await
        .unwrap();
    assert_eq!(letters, 0);
    let named: i64 = sqlx::query_scalar("select count(*) from product_names")
        .fetch_one(&mut model)
        .await
        .unwrap();
    assert_eq!(usize::try_from(named).unwrap(), products.len());

    rows_equal(&orders, &mut model).await;

    let before = contents(&mut model).await;
    for table in ["order_totals", "product_names", "projectionist_checkpoints"] {
        assert!(before.contains_key(table), "{:?}", before.keys());
    }
    place.succeed(&["run", "--once"]);
    assert_eq!(contents(&mut model).await, before);
}

/// The tables of orders and of their lines, field by field.
async fn rows_equal(orders: &[Value], model: &mut SqliteConnection) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut expected: Vec<(String, String, String)> = orders
        .iter()
        .map(|order| {
            let date = text(&order["orderDate"]);
            let (month, rest) = date.split_once('/').unwrap();
            let (day, year) = rest.split_once('/').unwrap();
            let date = format!("{}-{month}-{day}", &year[..4]);
            (text(&order["id"]), text(&order["customerId"]), date)
        })
        .collect();
    expected.sort();
    let found: Vec<(String, String, String)> =
        sqlx::query_as("select id, customer_id, ordered_on from orders order by id")
            .fetch_all(&mut *model)
            .await
            .unwrap();
    assert_eq!(found, expected);
    let mut expected = Vec::new();
    for order in orders {
        for (position, line) in list(order, "details").iter().enumerate() {
            expected.push((
                text(&order["id"]),
                i64::try_from(position).unwrap(),
                text(&line["sku"]),
                text(&line["name"]),
                line["price"].to_string().trim_end_matches(".0").to_owned(),
                line["quantity"].as_i64().unwrap(),
            ));
        }
    }
    expected.sort();
    let found: Vec<(String, i64, String, String, String, i64)> = sqlx::query_as(
        "select id, position, sku, name, price, quantity from order_lines order by id, position",
    )
    .fetch_all(&mut *model)
    .await
    .unwrap();
    assert_eq!(found.len(), 16_615);
    assert_eq!(found, expected);
}

fn documents(file: &Path) -> Vec<Value> {
    fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn list<'a>(document: &'a Value, name: &str) -> &'a Vec<Value> {
    document[name].as_array().unwrap()
}

/// Every table with all its rows. Of checkpoints without what each start writes: who took the lease
/// last, and when.
async fn contents(model: &mut SqliteConnection) -> BTreeMap<String, Vec<Vec<String>>> {
    let tables: Vec<String> =
        sqlx::query_scalar("select name from sqlite_schema where type = 'table'")
            .fetch_all(&mut *model)
            .await
            .unwrap();
    let mut contents = BTreeMap::new();
    for table in tables {
        let rows = sqlx::query(AssertSqlSafe(format!("select * from {table} order by 1")))
            .fetch_all(&mut *model)
            .await
            .unwrap();
        let rows = rows
            .iter()
            .map(|row| {
                row.columns()
                    .iter()
                    .filter(|column| !["epoch", "changed_at"].contains(&column.name()))
                    .map(|column| cell(row, column.ordinal()))
                    .collect()
            })
            .collect();
        contents.insert(table, rows);
    }
    contents
}

fn cell(row: &sqlx::sqlite::SqliteRow, at: usize) -> String {
    let raw = row.try_get_raw(at).unwrap();
    let kind = sqlx::ValueRef::type_info(&raw).name().to_owned();
    match kind.as_str() {
        "INTEGER" => row.get::<i64, _>(at).to_string(),
        "REAL" => row.get::<f64, _>(at).to_string(),
        "BLOB" => format!("{:?}", row.get::<Vec<u8>, _>(at)),
        "NULL" => "null".to_owned(),
        _ => row.get::<String, _>(at),
    }
}
