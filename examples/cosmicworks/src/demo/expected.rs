//! What the read models must hold after a list of writes, worked out without them.
//!
//! Nothing of the projections is used here: the latest documents are counted, in whole
//! ten-thousandths.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Write;

/// The totals of one customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Orders that are not deleted.
    pub orders: i64,
    /// Their revenue in ten-thousandths.
    pub revenue: i128,
}

/// The latest documents of a collection by partition key and id.
type Documents = BTreeMap<(String, String), Value>;

/// The totals by customer.
///
/// # Panics
///
/// If an order is not shaped like those of [`writes`](super::writes).
pub fn totals(writes: impl IntoIterator<Item = Write>) -> BTreeMap<String, Total> {
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    for ((customer, _), order) in documents(writes, "store") {
        if order["type"] == "salesOrder" && order["deleted"] != true {
            let total = totals.entry(customer).or_default();
            total.orders += 1;
            for line in order["details"].as_array().expect("orders have lines") {
                let quantity = line["quantity"].as_i64().expect("a whole number");
                total.revenue += ten_thousandths(&line["price"].to_string()) * i128::from(quantity);
            }
        }
    }
    totals
}

/// The category's name of each product, by category and product id.
pub fn category_names(
    writes: impl IntoIterator<Item = Write>,
) -> BTreeMap<(String, String), String> {
    let documents = documents(writes, "products");
    documents
        .iter()
        .filter(|(_, item)| item["type"] != "category")
        .map(|((category, id), product)| {
            let own = documents.get(&(category.clone(), category.clone()));
            let name = own.map_or(&product["categoryName"], |category| &category["name"]);
            let name = name.as_str().unwrap_or_default().to_owned();
            ((category.clone(), id.clone()), name)
        })
        .collect()
}

/// The changes of the collection `store` by operation: creates, replaces, deletes.
pub fn operations(writes: impl IntoIterator<Item = Write>) -> BTreeMap<&'static str, i64> {
    let mut living = std::collections::BTreeSet::new();
    let mut operations = BTreeMap::new();
    for write in writes {
        let operation = match write {
            Write::Upsert {
                collection: "store",
                document,
            } => {
                if living.insert(key(&document, "customerId")) {
                    "create"
                } else {
                    "replace"
                }
            }
            Write::Delete {
                collection: "store",
                id,
                partition_key,
            } => {
                living.remove(&(text(&partition_key), id));
                "delete"
            }
            _ => continue,
        };
        *operations.entry(operation).or_default() += 1;
    }
    operations
}

fn documents(writes: impl IntoIterator<Item = Write>, of: &str) -> Documents {
    let path = if of == "store" {
        "customerId"
    } else {
        "categoryId"
    };
    let mut documents = Documents::new();
    for write in writes {
        match write {
            Write::Upsert {
                collection,
                document,
            } if collection == of => {
                documents.insert(key(&document, path), document);
            }
            Write::Delete {
                collection,
                id,
                partition_key,
            } if collection == of => {
                documents.remove(&(text(&partition_key), id));
            }
            _ => {}
        }
    }
    documents
}

fn key(document: &Value, path: &str) -> (String, String) {
    (text(&document[path]), text(&document["id"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn ten_thousandths(decimal: &str) -> i128 {
    let (whole, part) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits = format!("{whole}{part:0<4}");
    assert!(part.len() <= 4, "{decimal} has more than four places");
    digits.parse().expect("digits only")
}
