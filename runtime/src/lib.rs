//! Runs projections: the engine, feeds, stores and the command line.

mod apply;
mod board;
pub mod clock;
pub mod coordination;
mod crash;
pub mod engine;
pub mod feed;
pub mod letters;
pub mod position;
pub mod problem;
mod pump;
mod reporter;
pub mod store;
