//! A row for each change of the collection `store`: every version and every delete.
//!
//! One hook, three attributes. They make this projection read all versions and deletes, so the
//! collection needs a retention window.

use projectionist::prelude::*;
use serde_json::Value;

// ANCHOR: projection
/// Keeps `audit`, which only grows.
#[projection(collection = "store", name = "audit", ddl = "audit.sql")]
#[derive(Debug)]
pub struct Audit;

impl Audit {
    /// A time to live that ran out comes here too, for there is no `on_expire`.
    #[on_create]
    #[on_replace]
    #[on_delete]
    #[expect(clippy::too_many_arguments, reason = "an argument for each column")]
    async fn log(
        &self,
        operation: Operation,
        id: DocumentId,
        key: PartitionKey,
        change: IdempotencyKey,
        before: Option<Previous<Value>>,
        after: Option<Change<Value>>,
        at: Ctx<'_>,
        mut tx: Tx<'_>,
    ) -> Result<(), TxError> {
        let before = before.and_then(|Previous(document)| document);
        let after = after.map(|Change(document)| document);
        // The same change has the same key, also after a reset.
        tx.execute(
            "insert into audit (change, operation, expired, partition_key, document_id, written_at, before, after)
             values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (change) do nothing",
            (
                change.as_str(),
                operation.as_str(),
                at.delete_kind() == Some(DeleteKind::Expired),
                key.json(),
                id.as_str(),
                at.timestamp().to_string(),
                before.map(|document| document.to_string()),
                after.map(|document| document.to_string()),
            ),
        )
        .await?;
        Ok(())
    }
}
// ANCHOR_END: projection
