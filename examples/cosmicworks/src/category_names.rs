//! The name of its category on every product: the job of the change feed sample of Cosmos DB.
//!
//! Products carry the name that their category had when they were written. Here a category's own
//! document decides, whichever comes first: the result depends on the latest documents alone.

use projectionist::prelude::*;
use serde::Deserialize;

// ANCHOR: projection
/// Keeps `product_names`, one row for each product.
#[projection(
    collection = "products",
    name = "category_names",
    soft_delete(deleted),
    start = beginning,
    ddl = "category_names.sql"
)]
#[derive(Debug)]
pub struct CategoryNames;

/// A product or a category. Only categories say their type.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    id: String,
    category_id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    name: String,
    category_name: Option<String>,
}

impl CategoryNames {
    #[on_upsert]
    async fn put(&self, item: Change<Item>, mut tx: Tx<'_>) -> Result<(), TxError> {
        if item.is_category() {
            tx.execute(
                "insert into categories (id, name) values ($1, $2)
                 on conflict (id) do update set name = excluded.name",
                (&item.id, &item.name),
            )
            .await?;
            tx.execute(
                "update product_names set category_name = $2 where category_id = $1",
                (&item.id, &item.name),
            )
            .await?;
            return Ok(());
        }
        let current: Option<String> = tx
            .fetch_optional(
                "select name from categories where id = $1",
                (&item.category_id,),
            )
            .await?;
        tx.execute(
            "insert into product_names (category_id, id, name, category_name, stated) values ($1, $2, $3, $4, $5)
             on conflict (category_id, id) do update
             set name = excluded.name, category_name = excluded.category_name, stated = excluded.stated",
            (
                &item.category_id,
                &item.id,
                &item.name,
                current.as_ref().or(item.category_name.as_ref()),
                item.category_name.as_ref(),
            ),
        )
        .await?;
        Ok(())
    }

    #[on_delete]
    async fn remove(&self, item: Deleted<Item>, mut tx: Tx<'_>) -> Result<(), TxError> {
        let Some(item) = &*item else { return Ok(()) };
        if item.is_category() {
            tx.execute("delete from categories where id = $1", (&item.id,))
                .await?;
            tx.execute(
                "update product_names set category_name = stated where category_id = $1",
                (&item.id,),
            )
            .await?;
        } else {
            tx.execute(
                "delete from product_names where category_id = $1 and id = $2",
                (&item.category_id, &item.id),
            )
            .await?;
        }
        Ok(())
    }
}
// ANCHOR_END: projection

impl Item {
    fn is_category(&self) -> bool {
        self.kind.as_deref() == Some("category")
    }
}
