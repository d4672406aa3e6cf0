//! The demo's whole history through each projection, against an oracle that knows none of them.

use std::collections::BTreeMap;

use cosmicworks::audit::Audit;
use cosmicworks::category_names::CategoryNames;
use cosmicworks::demo::{Write, expected, writes};
use cosmicworks::order_totals::OrderTotals;
use projectionist_runtime::testing;

async fn write_all(t: &mut testing::Projector, of: &str) -> testing::Result {
    for write in writes() {
        match write {
            Write::Upsert {
                collection,
                document,
            } if collection == of => t.upsert(document).await?,
            Write::Delete {
                collection,
                id,
                partition_key,
            } if collection == of => {
                t.delete(&id, partition_key.as_str().expect("a string"))
                    .await?;
            }
            _ => {}
        }
    }
    t.deliver_twice().settle().await?;
    assert!(t.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn order_totals() -> testing::Result {
    let mut t = testing::Projector::of::<OrderTotals>()
        .partition_key("/customerId")
        .sqlite()
        .await?;
    write_all(&mut t, "store").await?;
    let rows: Vec<(String, i64, rust_decimal::Decimal)> = t
        .rows("select customer_id, orders, revenue from order_totals")
        .await?;
    let found: BTreeMap<String, expected::Total> = rows
        .into_iter()
        .map(|(customer, orders, revenue)| {
            let revenue = revenue * rust_decimal::Decimal::from(10_000);
            let total = expected::Total {
                orders,
                revenue: i128::try_from(revenue).unwrap(),
            };
            (customer, total)
        })
        .collect();
    assert_eq!(found, expected::totals(writes()));
    Ok(())
}

#[tokio::test]
async fn category_names() -> testing::Result {
    let mut t = testing::Projector::of::<CategoryNames>()
        .partition_key("/categoryId")
        .sqlite()
        .await?;
    write_all(&mut t, "products").await?;
    let rows: Vec<(String, String, String)> = t
        .rows("select category_id, id, category_name from product_names")
        .await?;
    let found: BTreeMap<_, _> = rows
        .into_iter()
        .map(|(category, id, name)| ((category, id), name))
        .collect();
    assert_eq!(found, expected::category_names(writes()));
    Ok(())
}

#[tokio::test]
async fn audit() -> testing::Result {
    let mut t = testing::Projector::of::<Audit>()
        .partition_key("/customerId")
        .sqlite()
        .await?;
    write_all(&mut t, "store").await?;
    let rows: Vec<(String, i64)> = t
        .rows("select operation, count(*) from audit group by operation")
        .await?;
    let expected = expected::operations(writes());
    assert_eq!(rows.len(), expected.len());
    for (operation, count) in rows {
        assert_eq!(
            Some(&count),
            expected.get(operation.as_str()),
            "{operation}"
        );
    }
    Ok(())
}
