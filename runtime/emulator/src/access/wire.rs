//! What owner and client say to each other: JSON over HTTP on loopback.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The longest request.
pub(super) const LIMIT: usize = 64 * 1024 * 1024;

pub(super) const COLLECTIONS: &str = "/collections";
pub(super) const WRITE: &str = "/write";
pub(super) const READ: &str = "/read";

const FILE: &str = "emulator.endpoint";

/// Where the owner listens, and what proves that a client may read the owner's directory.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Endpoint {
    pub(super) port: u16,
    pub(super) token: String,
}

impl Endpoint {
    pub(super) fn path(dir: &Path) -> PathBuf {
        dir.join(FILE)
    }
}

/// The first value of a group of writes; [`Line`]s follow.
#[derive(Serialize, Deserialize)]
pub(super) struct Group {
    pub(super) collection: String,
}

/// One write of a group.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<'a> {
    pub(super) write: Kind,
    /// The document, unless it is a delete.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<&'a RawValue>,
    /// What is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// Its partition key's JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) partition_key: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Create,
    Replace,
    Upsert,
    Delete,
}

/// A document to read.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) collection: String,
    pub(super) id: String,
    /// The partition key's JSON text.
    pub(super) partition_key: String,
}

/// Why a request was refused.
#[derive(Serialize, Deserialize)]
pub(super) struct Refusal {
    pub(super) message: String,
    /// Which write of the group.
    pub(super) index: Option<usize>,
}
