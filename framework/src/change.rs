//! A change as a feed delivers it, and the arguments that show its document.
//!
//! Text and bodies are slices of the page they came in: taking a change out of a page allocates
//! nothing. A body is decoded once, straight into the type that the hook asks for.

pub mod tree;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use jiff::Timestamp;
use serde::Deserializer;
use serde::de::{DeserializeOwned, Visitor};

use self::tree::Tree;
use crate::extract::{Extract, ExtractError};
use crate::hook::HookCx;
use crate::needs::{Kinds, Needs};
use crate::row::Row;

/// What happened to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// It was written. Latest-version mode cannot tell a create from a replace.
    Upsert,
    /// It is new.
    Create,
    /// It was replaced.
    Replace,
    /// It is gone, or, with `soft_delete`, marked as gone.
    Delete,
}

impl Operation {
    /// The name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upsert => "upsert",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A document's body, not yet decoded: a text, or a tree where the feed's client parsed it already.
#[derive(Clone)]
pub struct Document(Body);

#[derive(Clone)]
enum Body {
    Text(Bytes),
    Tree(Arc<Tree>),
}

impl Document {
    /// A body of JSON text. It is not checked here: what does not decode becomes a dead letter.
    pub const fn from_json(json: Bytes) -> Self {
        Self(Body::Text(json))
    }

    /// A body that was parsed already.
    pub fn from_tree(tree: impl Into<Arc<Tree>>) -> Self {
        Self(Body::Tree(tree.into()))
    }

    /// The JSON text: as it came, or written anew from a tree.
    #[expect(clippy::missing_panics_doc, reason = "it cannot")]
    pub fn json(&self) -> Bytes {
        match &self.0 {
            Body::Text(json) => json.clone(),
            Body::Tree(tree) => serde_json::to_vec(&**tree)
                .expect("a tree has text keys and nothing that fails")
                .into(),
        }
    }

    /// Decodes the body.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.0 {
            Body::Text(json) => serde_json::from_slice(json),
            Body::Tree(tree) => T::deserialize(tree.root()),
        }
    }

    /// Reads the body as a row.
    pub(crate) fn row<R: Row>(&self) -> Result<R, serde_json::Error> {
        match &self.0 {
            Body::Text(json) => {
                let mut json = serde_json::Deserializer::from_slice(json);
                let row = R::read(&mut json)?;
                json.end()?;
                Ok(row)
            }
            Body::Tree(tree) => R::read(tree.root()),
        }
    }

    /// Reads the body as an object.
    pub(crate) fn visit<'d, V: Visitor<'d>>(
        &'d self,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        match &self.0 {
            Body::Text(json) => {
                let mut json = serde_json::Deserializer::from_slice(json);
                let value = json.deserialize_map(visitor)?;
                json.end()?;
                Ok(value)
            }
            Body::Tree(tree) => tree.root().deserialize_map(visitor),
        }
    }
}

/// The same text is the same document.
impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Document {}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.json()))
    }
}

/// One change, as a feed delivers it.
#[derive(Clone, Debug)]
pub struct RawChange {
    /// The document's id.
    pub id: ByteString,
    /// The partition key's values as a JSON array: `["tenant", 7]`. A document without the key has
    /// `[{}]`, as on the wire.
    pub partition_key: ByteString,
    /// What happened. Latest-version feeds say [`Operation::Upsert`].
    pub operation: Operation,
    /// The new version. None on a delete.
    pub current: Option<Document>,
    /// The version before, where the container retains it.
    pub previous: Option<Document>,
    /// The new version's etag. None on a delete.
    pub etag: Option<ByteString>,
    /// The sequence number (`_lsn`) inside the physical partition. Changes of one transactional batch share it.
    pub sequence: Option<u64>,
    /// Its place among this document's deletes of the same sequence number. 0 almost always.
    pub ordinal: u32,
    /// When it was written, in whole seconds on Cosmos DB.
    pub timestamp: Timestamp,
    /// Whether a delete is the doing of the document's time to live.
    pub expired: bool,
}

/// The changed document, decoded.
#[derive(Clone, Debug)]
pub struct Change<T>(pub T);

/// The document before the change. Empty on a create, and wherever the container does not retain
/// previous images, which is the default of the service.
#[derive(Clone, Debug)]
pub struct Previous<T>(pub Option<T>);

/// What is left of a deleted document: the marked document with `soft_delete`, the previous image
/// where the container retains it, else nothing.
#[derive(Clone, Debug)]
pub struct Deleted<T>(pub Option<T>);

impl<T> Deref for Change<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Deref for Previous<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T> Deref for Deleted<T> {
    type Target = Option<T>;

    fn deref(&self) -> &Option<T> {
        &self.0
    }
}

impl<T: DeserializeOwned> Extract<'_> for Change<T> {
    const KINDS: Kinds = Kinds::UPSERT.or(Kinds::CREATE).or(Kinds::REPLACE);

    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        match Self::extract_optional(cx)? {
            Some(change) => Ok(change),
            None => Err(ExtractError::Absent("document")),
        }
    }

    fn extract_optional(cx: &mut HookCx<'_>) -> Result<Option<Self>, ExtractError> {
        read(cx.change().current.as_ref()).map(|body| body.map(Self))
    }
}

impl<T: DeserializeOwned> Extract<'_> for Previous<T> {
    const NEEDS: Needs = Needs::PREVIOUS;
    const KINDS: Kinds = Kinds::UPSERT
        .or(Kinds::REPLACE)
        .or(Kinds::DELETE)
        .or(Kinds::EXPIRE);

    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        read(cx.change().previous.as_ref()).map(Self)
    }

    fn extract_optional(cx: &mut HookCx<'_>) -> Result<Option<Self>, ExtractError> {
        let Self(body) = Self::extract(cx)?;
        Ok(body.map(|body| Self(Some(body))))
    }
}

impl<T: DeserializeOwned> Extract<'_> for Deleted<T> {
    const KINDS: Kinds = Kinds::DELETE.or(Kinds::EXPIRE);

    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        let change = cx.change();
        read(change.current.as_ref().or(change.previous.as_ref())).map(Self)
    }

    fn extract_optional(cx: &mut HookCx<'_>) -> Result<Option<Self>, ExtractError> {
        if cx.is_delete() {
            Self::extract(cx).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl Extract<'_> for Operation {
    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        Ok(if cx.is_delete() {
            Self::Delete
        } else {
            cx.change().operation
        })
    }
}

fn read<T: DeserializeOwned>(document: Option<&Document>) -> Result<Option<T>, ExtractError> {
    document
        .map(Document::decode)
        .transpose()
        .map_err(ExtractError::Document)
}
