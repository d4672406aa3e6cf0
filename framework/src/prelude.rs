//! What a file with a projection in it imports: `use projectionist::prelude::*;`.

#[cfg(feature = "sqlite")]
pub use crate::Sqlite;
pub use crate::{
    BoxError, Change, Ctx, DeleteKind, Deleted, DocumentId, IdempotencyKey, IntoVerdict, Mode,
    Operation, PartitionKey, Previous, Projection, ProjectionDef, State, States, Tx, TxError,
    Verdict, on_create, on_delete, on_expire, on_replace, on_upsert, projection,
};
