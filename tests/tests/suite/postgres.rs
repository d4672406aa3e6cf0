//! The programs on PostgreSQL, by settings alone.

use rust_decimal::Decimal;

use crate::database::Database;
use crate::program::{COUNTER, Place, SHOP, sample, things};

const COLLECTIONS: &str = "
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
async fn the_sample_is_the_same_on_postgres() {
    let Some(sample) = sample() else {
        println!("not run: there is no data/cosmicworks in $PROJECTIONIST_SHARED or ../shared");
        return;
    };
    let Some(database) = Database::new().await else {
        return;
    };
    let settings = format!(
        "feed = \"emulator\"\nstore = \"postgres\"\n{}{COLLECTIONS}",
        database.settings()
    );
    let place = Place::new(SHOP, &settings);
    for (collection, file) in [
        ("store", "customers.jsonl"),
        ("store", "sales-orders.jsonl"),
        ("products", "products.jsonl"),
    ] {
        let file = sample.join(file);
        place.succeed(&["dev", "load", collection, file.to_str().unwrap()]);
    }
    place.succeed(&["check"]);
    place.succeed(&["run", "--once"]);
    let mut conn = database.connect().await;
    let revenues: Vec<String> = sqlx::query_scalar("select revenue from order_totals")
        .fetch_all(&mut conn)
        .await
        .unwrap();
    let revenue: Decimal = revenues
        .iter()
        .map(|revenue| revenue.parse::<Decimal>().unwrap())
        .sum();
    assert_eq!(revenue, "21783966.3425".parse().unwrap());
    for (sql, expected) in [
        ("select sum(orders) from order_totals", 1484),
        ("select count(*) from orders", 1484),
        ("select count(*) from order_lines", 16_615),
        ("select count(*) from projectionist_letters", 0),
    ] {
        let found: i64 = sqlx::query_scalar(sql).fetch_one(&mut conn).await.unwrap();
        assert_eq!(found, expected, "{sql}");
    }
    // The lines of an order, as the database adds them.
    let lines: String =
        sqlx::query_scalar("select trim_scale(sum(price * quantity))::text from order_lines")
            .fetch_one(&mut conn)
            .await
            .unwrap();
    assert_eq!(lines, "21783966.3425");
    let again = place.succeed(&["run", "--once"]);
    assert!(again.err.contains("\n0 changes applied"), "{again:#?}");
    place.succeed(&["schema", "check"]);
}

/// A second instance is refused by name, on whichever machine; when the first has died, it may.
#[tokio::test]
async fn one_instance_lives_on_a_database() {
    let Some(database) = Database::new().await else {
        return;
    };
    let settings = || {
        let things = things(2).replace("store = \"sqlite\"", "store = \"postgres\"");
        format!("instance = \"first\"\n{things}{}", database.settings())
    };
    let (here, there) = (
        Place::new(COUNTER, &settings()),
        Place::new(COUNTER, &settings()),
    );
    let first = here.start(&["run"]);
    first.says("instance first runs");
    let refused = there.run(&["run", "--once"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        refused
            .err
            .contains("error[already-running]: the instance `first` (process "),
        "{refused:#?}"
    );
    let status = there.succeed(&["status"]);
    assert!(
        status.out.contains("instance first (process "),
        "{status:#?}"
    );
    first.signal("KILL");
    first.end();
    let next = here.succeed(&["run", "--once"]);
    assert!(next.err.contains("0 changes applied"), "{next:#?}");
}

/// What is wrong with the database is told, and its password is not.
#[tokio::test]
async fn a_database_that_cannot_be_reached_is_told_without_its_password() {
    let things = things(1).replace("store = \"sqlite\"", "store = \"postgres\"");
    for (url, says) in [
        (
            "",
            "`store = \\\"postgres\\\"` (projector.toml:2) has no database",
        ),
        (
            "url = \"postgres://me:hunter2@127.0.0.1:1/shop\"",
            "the store 127.0.0.1/shop is busy",
        ),
        (
            "url = \"mysql://me:hunter2@127.0.0.1/shop\"",
            "expected `postgres://user:password@host/database`",
        ),
    ] {
        let place = Place::new(COUNTER, &format!("{things}[postgres]\n{url}\n"));
        let ended = place.run(&["run", "--once"]);
        assert_eq!(ended.status.code(), Some(1), "{ended:#?}");
        assert!(ended.err.contains(&says.replace('\\', "")), "{ended:#?}");
        assert!(!ended.err.contains("hunter2"), "{ended:#?}");
    }
}
