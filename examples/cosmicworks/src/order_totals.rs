//! Orders and revenue of each customer.
//!
//! State is set, never incremented: a change that comes twice, or in a later version only, gives the
//! same totals. That is why latest-version mode is enough.

use projectionist::prelude::*;
use rust_decimal::Decimal;
use serde::Deserialize;

// ANCHOR: projection
/// Keeps `order_totals`, one row for each customer that has orders.
#[projection(
    collection = "store",
    name = "order_totals",
    only(type = "salesOrder"),
    soft_delete(deleted),
    start = beginning,
    ddl = "order_totals.sql"
)]
#[derive(Debug)]
pub struct OrderTotals;

/// A sales order, as far as the totals care.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    id: String,
    customer_id: String,
    details: Vec<Line>,
}

/// A line of an order. The price is the JSON number's shortest decimal: `5.394` is 5.394.
#[derive(Debug, Deserialize)]
pub struct Line {
    price: Decimal,
    quantity: i64,
}

impl OrderTotals {
    #[on_upsert]
    async fn put(&self, order: Change<Order>, mut tx: Tx<'_>) -> Result<Verdict, TxError> {
        let Some(amount) = order.amount() else {
            return Ok(Verdict::poison("the amount is more than a decimal holds"));
        };
        tx.execute(
            "insert into order_amounts (customer_id, order_id, amount) values ($1, $2, $3)
             on conflict (customer_id, order_id) do update set amount = excluded.amount",
            (&order.customer_id, &order.id, amount),
        )
        .await?;
        total(&order.customer_id, &mut tx).await
    }

    /// A soft delete is a write with `deleted: true`.
    #[on_delete]
    async fn remove(&self, order: Deleted<Order>, mut tx: Tx<'_>) -> Result<Verdict, TxError> {
        let Some(order) = &*order else {
            return Ok(Verdict::Skip);
        };
        tx.execute(
            "delete from order_amounts where customer_id = $1 and order_id = $2",
            (&order.customer_id, &order.id),
        )
        .await?;
        total(&order.customer_id, &mut tx).await
    }
}
// ANCHOR_END: projection

impl Order {
    fn amount(&self) -> Option<Decimal> {
        self.details.iter().try_fold(Decimal::ZERO, |sum, line| {
            sum.checked_add(line.price.checked_mul(line.quantity.into())?)
        })
    }
}

/// Adds up anew. The database would add decimals as floating-point numbers, so they are added here.
async fn total(customer: &str, tx: &mut Tx<'_>) -> Result<Verdict, TxError> {
    let amounts: Vec<Decimal> = tx
        .fetch_all(
            "select amount from order_amounts where customer_id = $1",
            (customer,),
        )
        .await?;
    if amounts.is_empty() {
        tx.execute(
            "delete from order_totals where customer_id = $1",
            (customer,),
        )
        .await?;
        return Ok(Verdict::Done);
    }
    let sum = |(orders, revenue): (i64, Decimal), amount: &Decimal| {
        Some((orders + 1, revenue.checked_add(*amount)?))
    };
    let Some((orders, revenue)) = amounts.iter().try_fold((0, Decimal::ZERO), sum) else {
        return Ok(Verdict::poison("the revenue is more than a decimal holds"));
    };
    tx.execute(
        "insert into order_totals (customer_id, orders, revenue) values ($1, $2, $3)
         on conflict (customer_id) do update set orders = excluded.orders, revenue = excluded.revenue",
        (customer, orders, revenue.normalize()),
    )
    .await?;
    Ok(Verdict::Done)
}
