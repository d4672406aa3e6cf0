//! A local document store with the change feed of Azure Cosmos DB, in both modes.
//!
//! Documents live in collections with a partition key, several physical ranges by the service's
//! version 2 hash, system properties, time to live and a retention window. Everything is in one
//! append-only journal; memory holds where things lie. One process owns a journal.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use projectionist_emulator::{CollectionConfig, Emulator, FeedRequest, From, Mode, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options::new(Arc::new(|| jiff::Timestamp::UNIX_EPOCH));
//! let emulator = Emulator::in_memory(options);
//! let config = CollectionConfig::new("/customerId").retention(Duration::from_secs(3600));
//! let orders = emulator.create_collection("orders", config)?;
//! orders.create(r#"{"id": "1", "customerId": "ada"}"#)?;
//! orders.delete("1", &"ada".into())?;
//!
//! for range in orders.ranges() {
//!     let page = orders.read_feed(&FeedRequest {
//!         min: range.min,
//!         max: range.max,
//!         mode: Mode::AllVersions,
//!         from: From::After(0),
//!         max_items: 100,
//!     })?;
//!     assert_eq!(page.items.len(), 2);
//!     assert!(page.caught_up);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What survives what
//!
//! | | the process dies | the machine dies |
//! |---|---|---|
//! | `sync: true` | what was answered | what was answered |
//! | `sync: false` | what was answered | some beginning of it; a journal found corrupt is possible |

mod access;
mod collection;
mod compaction;
mod config;
#[cfg(feature = "crash-points")]
mod crash;
mod document;
mod emulator;
mod feed;
#[cfg(feature = "gateway")]
pub mod gateway;
mod hash;
mod index;
mod journal;
mod json;
mod key;
mod medium;
mod options;
mod owner;
mod patch;
mod plan;
#[cfg(feature = "gateway")]
mod query;
mod record;
mod replay;
mod ttl;
mod write;

pub use access::{AccessError, Client, CollectionInfo, Handle, RangeInfo, Server};
pub use collection::{Collection, RangeError};
pub use config::{CollectionConfig, Range};
pub use document::{BODY_LIMIT, ID_LIMIT};
pub use emulator::{DatabaseInfo, Emulator, EmulatorError, LOCAL};
pub use feed::{FeedError, FeedItem, FeedPage, FeedRequest, From, Mode, Operation};
pub use journal::{JournalError, Recovery};
pub use key::{KeyError, PartitionKey};
pub use options::{Clock, Options};
pub use owner::Owner;
pub use patch::{Condition, PATCH_LIMIT, PatchOperation};
#[cfg(feature = "gateway")]
#[doc(hidden)]
pub use query::{Parameter, Query, QueryError};
pub use write::{DocumentError, Done, GroupError, Numbering, Step, Write, Written};
