//! Declarative projections over the change feed of Azure Cosmos DB: what users write with.
//!
//! ```standalone_crate
//! use projectionist::prelude::*;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct User {
//!     id: String,
//!     plan: String,
//! }
//!
//! /// Keeps the table `plans` in step with the collection `users`.
//! #[projection(collection = "users", name = "plans", only(type = "user"))]
//! struct Plans;
//!
//! impl Plans {
//!     #[on_upsert]
//!     async fn keep(&self, user: Change<User>, mut tx: Tx<'_>) -> Result<(), TxError> {
//!         tx.execute(
//!             "insert into plans (id, plan) values ($1, $2)
//!              on conflict (id) do update set plan = excluded.plan",
//!             (&user.id, &user.plan),
//!         )
//!         .await?;
//!         Ok(())
//!     }
//!
//!     #[on_delete]
//!     async fn forget(id: DocumentId, mut tx: Tx<'_>) -> Result<(), TxError> {
//!         tx.execute("delete from plans where id = $1", (id,)).await?;
//!         Ok(())
//!     }
//! }
//!
//! // `on_delete` needs a feed that shows deletes: known before the program runs.
//! const _: () = assert!(matches!(Plans::MODE, Mode::AllVersionsAndDeletes));
//! # fn main() {}
//! ```

#[expect(unused_extern_crates, reason = "for the macros, inside this crate")]
// Lets the macros' `::projectionist` mean this crate, in its own tests too.
extern crate self as projectionist;

pub mod change;
pub mod extract;
pub mod filter;
pub mod hook;
pub mod key;
pub mod needs;
pub mod prelude;
pub mod projection;
pub mod registry;
pub mod sql;
pub mod verdict;

pub use projectionist_macros::{
    on_create, on_delete, on_expire, on_replace, on_upsert, projection,
};

pub use self::change::{Change, Deleted, Operation, Previous};
pub use self::extract::ctx::{Ctx, DeleteKind};
pub use self::extract::state::{State, States};
#[cfg(feature = "sqlite")]
pub use self::extract::tx::Sqlite;
pub use self::extract::tx::{Tx, TxError};
pub use self::extract::{Extract, ExtractError};
pub use self::key::{DocumentId, IdempotencyKey, PartitionKey};
pub use self::needs::{Kind, Mode};
pub use self::projection::{Projection, Start};
pub use self::registry::{ProjectionDef, Registry, RegistryError};
pub use self::verdict::{BoxError, IntoVerdict, Verdict};

/// Links crates of projections into the program: a crate that nothing names is not passed to the
/// linker, and its projections would be missing without a word.
///
/// `link!(users, orders)` stands where an expression stands, and is nothing at run time.
#[macro_export]
macro_rules! link {
    ($($krate:ident),* $(,)?) => {{
        $(
            #[allow(unused_imports)]
            use $krate as _;
        )*
        $crate::Linked(())
    }};
}

/// Proof that the crates of projections were named: what [`link!`] gives.
#[derive(Clone, Copy, Debug)]
pub struct Linked(#[doc(hidden)] pub ());

/// Not public: what the macros' output refers to.
#[doc(hidden)]
pub mod __private {
    pub use inventory;

    pub use crate::extract::Extract;
    pub use crate::extract::state::States;
    pub use crate::extract::tx::BoxFuture;
    pub use crate::filter::{Condition, Literal, Test};
    pub use crate::hook::{Answer, Failure, Hook, HookCx, Hooks, Outcome, Page};
    pub use crate::needs::{Kind, Mode, Needs};
    pub use crate::projection::{Ddl, NoHooks, Projection, Spec, Start, into_built};
    pub use crate::registry::{Location, ProjectionDef};
    pub use crate::verdict::{BoxError, IntoVerdict};
}
