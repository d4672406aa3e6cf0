//! Projections over CosmicWorks, a shop: customers and sales orders in the collection `store`,
//! products and their categories in the collection `products`.
//!
//! Written as a user would write them: this crate knows the light `projectionist` alone, and none of
//! the runtime. The binary that runs it is `examples/projector`.

pub mod audit;
pub mod category_names;
pub mod demo;
pub mod order_totals;
pub mod orders;
pub mod webhook;
