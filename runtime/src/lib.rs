//! Runs projections: the engine, feeds, stores and the command line.

mod apply;
mod board;
mod builder;
mod cli;
pub mod clock;
pub mod config;
pub mod coordination;
mod crash;
mod demo;
pub mod engine;
pub mod feed;
#[cfg(test)]
mod fixture;
pub mod letters;
mod local;
mod parts;
pub mod position;
pub mod problem;
mod pump;
mod reporter;
pub mod store;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;

pub use projectionist::link;

pub use self::builder::{App, Handle, Projector};
pub use self::demo::{Demo, DemoWrite};
