//! Runs projections: the engine, feeds, stores and the command line.
//!
//! [`Projector`] is the whole program: settings, command line, engine. Below it [`engine`] runs projections on any
//! [`feed::Feed`] and [`store::Store`], and is there without any feature; the program needs `emulator` and `sqlite`, and
//! reads Azure Cosmos DB with `cosmos`.

mod apply;
mod board;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod builder;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod cli;
pub mod clock;
pub mod config;
pub mod coordination;
mod crash;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod demo;
pub mod engine;
pub mod feed;
#[cfg(test)]
mod fixture;
pub mod letters;
mod lineage;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod local;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod parts;
pub mod position;
pub mod problem;
mod pulse;
mod pump;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod remote;
mod reporter;
pub mod store;
mod table;
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;

pub use projectionist::link;

#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
pub use self::builder::{App, Handle, Projector};
#[cfg(all(feature = "emulator", feature = "postgres", feature = "sqlite"))]
pub use self::demo::{Demo, DemoWrite};
