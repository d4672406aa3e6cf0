//! The tables of row projections: made, checked against what was declared, and written to.
//!
//! P3: rows are found by their document, in hidden columns; the row's own key is a constraint. Everything here is plain
//! SQL through the portable transaction, so that it is one code for every database.

mod ddl;
mod dialect;
mod once;
mod plan;
mod schema;
mod shape;
#[cfg(test)]
mod tests;
mod tuples;
mod write;

#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
pub(crate) use self::ddl::script;
pub(crate) use self::dialect::Dialect;
pub(crate) use self::once::groups;
pub(crate) use self::plan::TablePlan;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
pub(crate) use self::schema::Found;
pub(crate) use self::schema::{apply, inspect};
pub(crate) use self::write::write;
