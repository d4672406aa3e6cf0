//! A collection store, whoever owns it: this process, or another that serves it on loopback.
//!
//! What loads, puts and deletes documents uses a [`Handle`] and works in both cases.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::collection::Collection;
use crate::config::{CollectionConfig, Range};
use crate::emulator::{Emulator, EmulatorError};
use crate::key::PartitionKey;
use crate::options::Options;
use crate::owner::Owner;
use crate::write::{DocumentError, GroupError, Write, Written};

mod client;
mod server;
mod wire;

pub use client::Client;
pub use server::Server;

/// How often, and after which pause, an owner that is just starting is asked again.
const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// What a collection is and how far it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionInfo {
    /// The name.
    pub name: String,
    /// The resource id.
    pub rid: String,
    /// How it is set up.
    pub config: CollectionConfig,
    /// The number of documents.
    pub count: u64,
    /// The physical ranges, each with its newest sequence number.
    pub ranges: Vec<RangeInfo>,
}

/// A physical range and how far it goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeInfo {
    /// The range.
    pub range: Range,
    /// Its newest sequence number.
    pub end: u64,
}

impl CollectionInfo {
    /// What a collection is now.
    pub fn of(collection: &Collection) -> Self {
        let ranges = {
            let index = collection.read_index();
            let info = |range: &crate::index::RangeIndex| RangeInfo {
                range: range.range.clone(),
                end: range.end,
            };
            index.ranges.iter().map(info).collect()
        };
        Self {
            name: collection.name().to_owned(),
            rid: collection.rid().to_owned(),
            config: collection.config(),
            count: collection.count(),
            ranges,
        }
    }
}

/// Why a collection store could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// It does not open here.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// Another process owns it and does not answer.
    #[error(
        "the collection store in {} is in use by {}, which does not answer on loopback; wait until it has started, or stop it", dir.display(), owner.as_ref().map_or_else(|| "another process".to_owned(), Owner::to_string)
    )]
    Silent {
        /// The directory.
        dir: PathBuf,
        /// The process, as far as it has said.
        owner: Option<Owner>,
    },
    /// Its owner was asked and refused, or the collection here did.
    #[error("{message}")]
    Refused {
        /// The status by which HTTP says it.
        status: u16,
        /// Which write of the group was refused, counted from 0. Nothing of the group was written.
        index: Option<usize>,
        /// Why.
        message: String,
    },
    /// No owner serves it.
    #[error("the owner of the collection store in {} does not answer on loopback", dir.display())]
    Unreachable {
        /// The directory.
        dir: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The owner's answer is none.
    #[error("the owner of the collection store in {} gave an answer that cannot be read: {reason}", dir.display())]
    Answer {
        /// The directory.
        dir: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl From<GroupError> for AccessError {
    fn from(error: GroupError) -> Self {
        Self::Refused {
            status: error.source.status(),
            index: Some(error.index),
            message: chain(&error.source),
        }
    }
}

impl From<DocumentError> for AccessError {
    fn from(error: DocumentError) -> Self {
        Self::Refused {
            status: error.status(),
            index: None,
            message: chain(&error),
        }
    }
}

/// A collection store that this process owns, or reaches through its owner.
#[derive(Debug)]
#[non_exhaustive]
pub enum Handle {
    /// This process owns it.
    Owner(Emulator),
    /// Another process does.
    Client(Client),
}

impl Handle {
    /// Opens the store in a directory, or connects to the process that owns it. An owner that is
    /// just starting is waited for, for two seconds.
    pub async fn open_or_connect(dir: &Path, options: Options) -> Result<Self, AccessError> {
        let mut attempt = 0;
        loop {
            let (opened, open) = (dir.to_owned(), options.clone());
            let result = blocking(move || Emulator::open(&opened, open)).await;
            let owner = match result {
                Ok(emulator) => return Ok(Self::Owner(emulator)),
                Err(EmulatorError::Owned { owner, .. }) => owner,
                Err(error) => return Err(error.into()),
            };
            match Client::connect(dir).await {
                Ok(client) => return Ok(Self::Client(client)),
                Err(AccessError::Unreachable { .. }) if attempt < ATTEMPTS => attempt += 1,
                Err(AccessError::Unreachable { .. }) => {
                    let dir = dir.to_owned();
                    return Err(AccessError::Silent { dir, owner });
                }
                Err(error) => return Err(error),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Makes a group of writes: all of them or none. Groups of a few megabytes are best.
    pub async fn write_many(
        &self,
        collection: &str,
        writes: Vec<Write>,
    ) -> Result<Vec<Written>, AccessError> {
        match self {
            Self::Owner(emulator) => {
                let collection = emulator.collection(collection)?;
                Ok(blocking(move || collection.write_many(writes)).await?)
            }
            Self::Client(client) => client.write_many(collection, writes).await,
        }
    }

    /// Deletes a document.
    pub async fn delete(
        &self,
        collection: &str,
        id: &str,
        partition_key: &PartitionKey,
    ) -> Result<Written, AccessError> {
        let delete = Write::Delete {
            id: id.to_owned(),
            partition_key: partition_key.clone(),
        };
        let mut written = self.write_many(collection, vec![delete]).await?;
        written.pop().ok_or_else(|| AccessError::Refused {
            status: 500,
            index: None,
            message: "the delete was not answered".to_owned(),
        })
    }

    /// Reads a document's JSON text.
    pub async fn read(
        &self,
        collection: &str,
        id: &str,
        partition_key: &PartitionKey,
    ) -> Result<Bytes, AccessError> {
        match self {
            Self::Owner(emulator) => {
                let item = emulator.collection(collection)?.read(id, partition_key)?;
                Ok(item.current.unwrap_or_default())
            }
            Self::Client(client) => client.read(collection, id, partition_key).await,
        }
    }

    /// All collections, by name.
    pub async fn collections(&self) -> Result<Vec<CollectionInfo>, AccessError> {
        match self {
            Self::Owner(emulator) => Ok(emulator
                .collections()
                .iter()
                .map(|collection| CollectionInfo::of(collection))
                .collect()),
            Self::Client(client) => client.collections().await,
        }
    }
}

/// Runs what may wait for a disk off the runtime's threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that is shutting down cancels, and then nobody waits for this.
            Err(_) => std::future::pending().await,
        },
    }
}

/// An error with its causes, as one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
