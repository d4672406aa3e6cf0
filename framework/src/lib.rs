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
//!
//! A file of projections imports the [`prelude`]. What an attribute takes stands at the attribute:
//! [`projection`](macro@projection), [`on_upsert`](macro@on_upsert) and its siblings. What a hook may take as an argument
//! implements [`Extract`], what it may return [`IntoVerdict`]. The other modules are what the runtime sees: a
//! [`projection`](mod@projection) and its [`hook`]s, the [`filter`]s before them, the [`registry`] that finds them.

// Lets the macros' `::projectionist` mean this crate, in its own tests too.
#[cfg_attr(
    not(test),
    expect(unused_extern_crates, reason = "for the macros, inside this crate")
)]
extern crate self as projectionist;

pub mod change;
pub mod extract;
pub mod filter;
pub mod hook;
pub mod key;
pub mod needs;
pub mod page;
pub mod prelude;
pub mod projection;
pub mod registry;
pub mod row;
pub mod sql;
pub mod verdict;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private0;

pub use change::{Change, Deleted, Document, Operation, Previous, RawChange};
pub use extract::ctx::{Ctx, DeleteKind};
pub use extract::state::{State, States};
#[cfg(feature = "postgres")]
pub use extract::tx::Postgres;
#[cfg(feature = "sqlite")]
pub use extract::tx::Sqlite;
pub use extract::tx::{Tx, TxError};
pub use extract::{Extract, ExtractError};
pub use hook::HookCx;
pub use key::{DocumentId, IdempotencyKey, PartitionKey};
pub use needs::{Kind, Mode};
pub use projection::{Projection, Start};
pub use registry::{Location, ProjectionDef, Registry, RegistryError};
pub use verdict::{BoxError, IntoVerdict, Verdict};

#[doc = include_str!("attributes/projection.md")]
pub use projectionist_macros::projection;

/// Runs for a document that was created or replaced, unless `on_create` or `on_replace` takes it.
///
/// ```standalone_crate
/// # use projectionist::prelude::*;
/// # #[derive(serde::Deserialize)]
/// # struct User { id: String }
/// # #[projection(collection = "users", name = "on_upsert")]
/// # struct Users;
/// # impl Users {
///     #[on_upsert(only(plan = "pro"))]
///     async fn keep(&self, user: Change<User>, mut tx: Tx<'_>) -> Result<(), TxError> {
///         tx.execute("insert into users (id) values ($1) on conflict (id) do nothing", (&user.id,)).await?;
///         Ok(())
///     }
/// # }
/// # fn main() {}
/// ```
#[doc = include_str!("attributes/hook.md")]
pub use projectionist_macros::on_upsert;

/// Runs for a document that is new. Selects all-versions mode.
///
/// ```standalone_crate
/// # use projectionist::prelude::*;
/// # #[derive(serde::Deserialize)]
/// # struct User { id: String }
/// # #[projection(collection = "users", name = "on_create")]
/// # struct Users;
/// # impl Users {
///     #[on_create]
///     async fn welcome(user: Change<User>, key: IdempotencyKey) {
///         println!("welcome, {} ({key})", user.id);
///     }
/// # }
/// # fn main() {}
/// ```
#[doc = include_str!("attributes/hook.md")]
pub use projectionist_macros::on_create;

/// Runs for a document that was replaced; a patch is a replace. Selects all-versions mode.
///
/// ```standalone_crate
/// # use projectionist::prelude::*;
/// # #[derive(serde::Deserialize)]
/// # struct User { id: String }
/// # #[projection(collection = "users", name = "on_replace")]
/// # struct Users;
/// # impl Users {
///     #[on_replace]
///     async fn compare(now: Change<User>, before: Previous<User>) -> Verdict {
///         match &*before {
///             Some(before) if before.id == now.id => Verdict::Skip,
///             _ => Verdict::Done,
///         }
///     }
/// # }
/// # fn main() {}
/// ```
#[doc = include_str!("attributes/hook.md")]
pub use projectionist_macros::on_replace;

/// Runs for a document that was deleted or, without `on_expire`, whose time to live ran out. Selects
/// all-versions mode, unless the projection has a `soft_delete` mark.
///
/// ```standalone_crate
/// # use projectionist::prelude::*;
/// # #[derive(serde::Deserialize)]
/// # struct User { id: String }
/// # #[projection(collection = "users", name = "on_delete")]
/// # struct Users;
/// # impl Users {
///     #[on_delete]
///     async fn forget(id: DocumentId, mut tx: Tx<'_>) -> Result<(), TxError> {
///         tx.execute("delete from users where id = $1", (id,)).await?;
///         Ok(())
///     }
/// # }
/// # fn main() {}
/// ```
#[doc = include_str!("attributes/hook.md")]
pub use projectionist_macros::on_delete;

/// Runs for a document whose time to live ran out. Selects all-versions mode.
///
/// ```standalone_crate
/// # use projectionist::prelude::*;
/// # #[derive(serde::Deserialize)]
/// # struct User { id: String }
/// # #[projection(collection = "users", name = "on_expire")]
/// # struct Users;
/// # impl Users {
///     #[on_expire]
///     async fn note(id: DocumentId, at: Ctx<'_>) {
///         println!("{id} expired at {}", at.timestamp());
///     }
/// # }
/// # fn main() {}
/// ```
#[doc = include_str!("attributes/hook.md")]
pub use projectionist_macros::on_expire;

/// Makes a struct the row of a child table: one for each item of an array.
///
/// ```standalone_crate
/// # use projectionist::prelude::*;
/// #[projection(collection = "store", name = "orders", table = "orders", only(type = "salesOrder"))]
/// struct Order {
///     #[column(key)]
///     id: String,
///     #[column(each = "details", table = "order_lines")]
///     lines: Vec<Line>,
/// }
///
/// #[derive(ProjectionRow)]
/// struct Line {
///     sku: String,
///     #[column(from = "amount.count")]
///     quantity: i64,
/// }
/// # fn main() {}
/// ```
///
/// The table has the key of the parent, and its own: the fields with `#[column(key)]`, else the item's place in the array,
/// `position`, from 0. Fields take the options of a row projection's, but `each`.
pub use projectionist_macros::ProjectionRow;

#[doc(hidden)]
pub use projectionist_macros::{on_change, on_insert, on_remove, on_update, on_write};

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
