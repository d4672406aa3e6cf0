//! A product has its category's name, in whatever order their documents come.

use cosmicworks::category_names::CategoryNames;
use projectionist_runtime::testing;
use serde_json::{Value, json};

const NAMES: &str = "select id, category_name from product_names order by id";

fn category(name: &str) -> Value {
    json!({ "id": "c1", "categoryId": "c1", "type": "category", "name": name })
}

fn product(id: &str, category_name: &str) -> Value {
    json!({ "id": id, "categoryId": "c1", "categoryName": category_name, "name": "Touring-1000" })
}

async fn projector() -> testing::Result<testing::Projector> {
    testing::Projector::of::<CategoryNames>()
        .partition_key("/categoryId")
        .sqlite()
        .await
}

#[tokio::test]
async fn a_new_name_reaches_the_products() -> testing::Result {
    let mut t = projector().await?;
    t.upsert(category("Bikes")).await?;
    t.upsert(product("p1", "Bikes")).await?;
    t.upsert(product("p2", "Bikes")).await?;
    t.deliver_twice().settle().await?;
    t.upsert(category("Bicycles")).await?;
    t.settle().await?;
    let renamed = [
        ("p1".into(), "Bicycles".into()),
        ("p2".into(), "Bicycles".into()),
    ];
    assert_eq!(t.rows::<(String, String)>(NAMES).await?, renamed);
    // The product still says what its category was called when it was written.
    t.upsert(product("p1", "Bikes")).await?;
    t.settle().await?;
    assert_eq!(t.rows::<(String, String)>(NAMES).await?, renamed);
    Ok(())
}

#[tokio::test]
async fn the_order_does_not_matter() -> testing::Result {
    let mut gone = category("Bicycles");
    gone["deleted"] = true.into();
    for deleted in [false, true] {
        let last = if deleted {
            gone.clone()
        } else {
            category("Bicycles")
        };
        let documents = [last, product("p1", "Bikes"), product("p2", "Wheels")];
        let mut results = Vec::new();
        for order in [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 0, 1]] {
            let mut t = projector().await?;
            t.upsert(category("Old")).await?;
            for index in order {
                t.upsert(documents[index].clone()).await?;
                // Each in a page of its own.
                t.settle().await?;
            }
            results.push(t.rows::<(String, String)>(NAMES).await?);
        }
        let expected = if deleted {
            ["Bikes", "Wheels"]
        } else {
            ["Bicycles"; 2]
        };
        let expected = [
            ("p1".to_owned(), expected[0].to_owned()),
            ("p2".to_owned(), expected[1].to_owned()),
        ];
        for result in results {
            assert_eq!(result, expected, "deleted: {deleted}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_product_marked_as_deleted_goes() -> testing::Result {
    let mut t = projector().await?;
    t.upsert(product("p1", "Bikes")).await?;
    let mut gone = product("p1", "Bikes");
    gone["deleted"] = true.into();
    t.upsert(gone).await?;
    t.deliver_twice().settle().await?;
    assert!(t.rows::<(String, String)>(NAMES).await?.is_empty());
    Ok(())
}
