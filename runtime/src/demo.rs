//! Documents for a first look, and what to show of the read model afterwards.

use std::fmt;

use serde_json::Value;

/// One write of a [`Demo`].
#[derive(Clone, Debug, PartialEq)]
pub enum DemoWrite {
    /// Creates or replaces a document.
    Upsert {
        /// The collection's logical name.
        collection: String,
        /// The document.
        document: Value,
    },
    /// Deletes a document for good.
    Delete {
        /// The collection's logical name.
        collection: String,
        /// The document's id.
        id: String,
        /// The value of its partition key.
        partition_key: Value,
    },
}

type Writes = Box<dyn FnOnce() -> Vec<DemoWrite>>;

/// Documents for a first look. They are written once, by a plain `run` on an empty data directory.
pub struct Demo {
    pub(crate) writes: Writes,
    pub(crate) tables: Vec<(String, String)>,
}

impl Demo {
    /// A demonstration that makes these writes, in order. They are made up only when they are needed.
    pub fn new<I>(writes: impl FnOnce() -> I + 'static) -> Self
    where
        I: IntoIterator<Item = DemoWrite>,
    {
        Self {
            writes: Box::new(|| writes().into_iter().collect()),
            tables: Vec::new(),
        }
    }

    /// Shows the result of a query on the read model at the end.
    #[must_use]
    pub fn table(mut self, title: impl Into<String>, query: impl Into<String>) -> Self {
        self.tables.push((title.into(), query.into()));
        self
    }
}

impl fmt::Debug for Demo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Demo")
            .field("tables", &self.tables)
            .finish_non_exhaustive()
    }
}
