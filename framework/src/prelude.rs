//! What a file with projections imports.

#[cfg(feature = "sqlite")]
pub use crate::Sqlite;
pub use crate::{
    BoxError, Change, Ctx, DeleteKind, Deleted, DocumentId, IdempotencyKey, IntoVerdict, Mode,
    Operation, PartitionKey, Previous, Projection, ProjectionDef, State, States, Tx, TxError,
    Verdict, on_create, on_delete, on_expire, on_replace, on_upsert, projection,
};
