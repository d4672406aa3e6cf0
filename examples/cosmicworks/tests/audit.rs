//! The audit has a row for each change.

use cosmicworks::audit::Audit;
use projectionist_runtime::testing;
use serde_json::json;

#[tokio::test]
async fn every_change_leaves_one_row() -> testing::Result {
    let mut t = testing::Projector::of::<Audit>()
        .partition_key("/customerId")
        .sqlite()
        .await?;
    t.upsert(json!({ "id": "cart", "customerId": "ada", "items": 1 }))
        .await?;
    t.upsert(json!({ "id": "cart", "customerId": "ada", "items": 2 }))
        .await?;
    t.delete("cart", "ada").await?;
    // Again: a document that has come back is new.
    t.upsert(json!({ "id": "cart", "customerId": "ada", "items": 3 }))
        .await?;
    t.deliver_twice().settle().await?;
    let rows: Vec<(String, String, String, Option<String>)> = t
        .rows("select operation, partition_key, document_id, after from audit order by rowid")
        .await?;
    let operations: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(operations, ["create", "replace", "delete", "create"]);
    for (operation, key, id, after) in &rows {
        assert_eq!((key.as_str(), id.as_str()), (r#"["ada"]"#, "cart"));
        assert_eq!(after.is_none(), operation == "delete");
    }
    assert!(
        rows[1]
            .3
            .as_ref()
            .is_some_and(|document| document.contains(r#""items":2"#))
    );
    Ok(())
}
