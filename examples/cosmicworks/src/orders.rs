//! Orders and their lines as two tables, without code.

use jiff::civil::Date;
use projectionist::prelude::*;
use rust_decimal::Decimal;

// ANCHOR: projection
/// Keeps `orders` and `order_lines` as the documents are.
#[projection(
    collection = "store",
    name = "orders",
    table = "orders",
    only(type = "salesOrder"),
    soft_delete(deleted)
)]
#[on_delete(remove)]
#[derive(Debug)]
pub struct Order {
    #[column(key, from = "customerId")]
    customer_id: String,
    #[column(key)]
    id: String,
    #[column(from = "orderDate", with = day)]
    ordered_on: Option<Date>,
    #[column(each = "details", table = "order_lines")]
    lines: Vec<Line>,
}

/// A line of an order. Its key is the order's, and its place in the array.
#[derive(Debug, ProjectionRow)]
pub struct Line {
    sku: Option<String>,
    name: Option<String>,
    price: Decimal,
    quantity: i64,
}

/// `05/30/2013 00:00:00`, or `2013-05-30`.
fn day(text: &str) -> Result<Option<Date>, jiff::Error> {
    let day = text.split(' ').next().unwrap_or_default();
    Date::strptime("%m/%d/%Y", day)
        .or_else(|_| day.parse())
        .map(Some)
}
// ANCHOR_END: projection
