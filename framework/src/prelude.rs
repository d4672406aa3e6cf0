//! What a file with a projection in it imports: `use projectionist::prelude::*;`.

#[cfg(feature = "postgres")]
pub use crate::Postgres;
#[cfg(feature = "sqlite")]
pub use crate::Sqlite;
pub use crate::{
    BoxError, Change, Ctx, DeleteKind, Deleted, DocumentId, IdempotencyKey, IntoVerdict, Mode,
    Operation, PartitionKey, Previous, Projection, ProjectionDef, ProjectionRow, State, States, Tx,
    TxError, Verdict, on_create, on_delete, on_expire, on_replace, on_upsert, projection,
};

// Names that are no hook's, each an error that says which is. An import of one's own shadows them.
#[doc(hidden)]
pub use crate::{on_change, on_insert, on_remove, on_update, on_write};
