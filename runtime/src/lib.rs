//! Runs projections: the engine, feeds, stores and the command line.

pub mod clock;
pub mod coordination;
pub mod feed;
pub mod letters;
pub mod position;
pub mod problem;
pub mod store;
