use std::collections::BTreeSet;

use super::*;

#[test]
fn is_the_same_every_time() {
    assert!(writes().eq(writes()));
    let documents: BTreeSet<_> = writes()
        .filter_map(|write| match write {
            Write::Upsert {
                document,
                collection,
            } => Some((collection, document["id"].to_string())),
            Write::Delete { .. } => None,
        })
        .filter(|(_, id)| !id.contains("cart"))
        .collect();
    assert_eq!(documents.len(), CATEGORIES + PRODUCTS + CUSTOMERS + ORDERS);
    assert_eq!(documents.len(), 2000);
}

#[test]
fn shows_what_the_examples_are_about() {
    let mut soft = 0;
    let mut hard = 0;
    let mut renamed = 0;
    for write in writes() {
        match write {
            Write::Upsert { document, .. } => {
                soft += usize::from(document["deleted"] == true);
                renamed += usize::from(
                    document["type"] == "category" && document["name"].to_string().contains("new"),
                );
                assert!(document["deleted"] != true || document["type"] == "salesOrder");
            }
            Write::Delete { collection, id, .. } => {
                hard += 1;
                assert_eq!(collection, "store");
                assert!(id.starts_with("cart-"), "{id} is not for the audit alone");
            }
        }
    }
    assert!(soft > 20, "{soft} soft deletes");
    assert!(hard > 20, "{hard} hard deletes");
    assert!(renamed > 5, "{renamed} renamed categories");
}

#[test]
fn the_oracle_counts_by_hand() {
    let order = |id: &str, price: f64, deleted: bool| Write::Upsert {
        collection: "store",
        document: json!({
            "id": id, "customerId": "ada", "type": "salesOrder", "deleted": deleted,
            "details": [{ "price": price, "quantity": 3 }, { "price": 1, "quantity": 2 }],
        }),
    };
    let changes = [
        order("one", 5.394, false),
        order("two", 0.1, false),
        order("three", 7.0, false),
        order("three", 7.0, true),
        order("two", 0.25, false),
    ];
    let totals = expected::totals(changes.clone());
    let ada = expected::Total {
        orders: 2,
        revenue: 161_820 + 20_000 + 7_500 + 20_000,
    };
    assert_eq!(
        totals.into_iter().collect::<Vec<_>>(),
        [("ada".to_owned(), ada)]
    );
    let operations = expected::operations(changes);
    assert_eq!(operations.get("create"), Some(&3));
    assert_eq!(operations.get("replace"), Some(&2));
}
