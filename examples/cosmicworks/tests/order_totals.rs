//! The totals follow the orders, whatever comes how often.

use cosmicworks::order_totals::OrderTotals;
use projectionist_runtime::testing;
use serde_json::{Value, json};

fn order(id: &str, price: f64, quantity: i64) -> Value {
    json!({
        "id": id,
        "type": "salesOrder",
        "customerId": "ada",
        "details": [{ "sku": "CA-1098", "price": price, "quantity": quantity }],
    })
}

// ANCHOR: test
#[tokio::test]
async fn totals_follow_the_orders() -> testing::Result {
    let mut t = testing::Projector::of::<OrderTotals>()
        .partition_key("/customerId")
        .sqlite()
        .await?;
    let totals = "select customer_id, orders, revenue from order_totals";

    t.upsert(order("one", 5.394, 5)).await?;
    t.upsert(order("two", 0.1, 3)).await?;
    t.deliver_twice().settle().await?;
    assert_eq!(
        t.rows::<(String, i64, String)>(totals).await?,
        [("ada".into(), 2, "27.27".into())]
    );

    // A soft delete is a write like any other.
    let mut gone = order("one", 5.394, 5);
    gone["deleted"] = true.into();
    t.upsert(gone).await?;
    t.settle().await?;
    assert_eq!(
        t.rows::<(String, i64, String)>(totals).await?,
        [("ada".into(), 1, "0.3".into())]
    );
    assert!(t.dead_letters().await?.is_empty());
    Ok(())
}
// ANCHOR_END: test
