//! Declarative projections over the change feed of Azure Cosmos DB: what users write with.

#[expect(unused_extern_crates, reason = "for the macros, inside this crate")]
// Lets the macros' `::projectionist` mean this crate, in its own tests too.
extern crate self as projectionist;

pub mod change;
pub mod extract;
pub mod filter;
pub mod hook;
pub mod key;
pub mod needs;
pub mod projection;
pub mod registry;
pub mod sql;
pub mod verdict;
