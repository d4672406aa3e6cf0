//! The program that the crash test kills: it counts every change of the collection `things`.
//!
//! Counting is not repeatable, so that one change applied twice or not at all shows.

use projectionist::prelude::*;

#[projection(
    collection = "things",
    name = "counter",
    ddl = "create table if not exists counter (n bigint not null);
           insert into counter select 0 where not exists (select 1 from counter);
           create table if not exists seen (
               range_id text not null,
               sequence bigint not null,
               id text not null,
               operation text not null,
               primary key (range_id, sequence, id)
           );"
)]
struct Counter;

impl Counter {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn count(
        operation: Operation,
        id: DocumentId,
        at: Ctx<'_>,
        mut tx: Tx<'_>,
    ) -> Result<(), BoxError> {
        let sequence = at.sequence().ok_or("a change without sequence number")?;
        tx.execute("update counter set n = n + 1", ()).await?;
        tx.execute(
            "insert into seen (range_id, sequence, id, operation) values ($1, $2, $3, $4)",
            (
                at.range_id(),
                i64::try_from(sequence)?,
                id.as_str(),
                operation.as_str(),
            ),
        )
        .await?;
        Ok(())
    }
}

projectionist_runtime::main! {}
