//! A collection: documents written and read, and its feed.
//!
//! Writers take turns at the journal and change the index only after the journal has their frame;
//! readers need the index alone, and never wait for a disk.

use std::collections::BinaryHeap;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::config::{CollectionConfig, Range};
use crate::document;
use crate::emulator::{Core, Writer};
use crate::feed::{
    self, FeedError, FeedItem, FeedPage, FeedRequest, From, Mode, PageError, Selection,
};
use crate::hash::Epk;
use crate::index::{Index, RangeIndex};
use crate::journal::{FRAME, JournalError, PAYLOAD_LIMIT};
use crate::key::PartitionKey;
use crate::medium::Medium;
use crate::plan::{self, Checked, Plan};
use crate::record::{Act, Head, Location, Setup};
use crate::write::{DocumentError, Done, GroupError, Numbering, Step, Write, Written};

/// How many expired documents one frame purges.
const PURGE: usize = 1000;

/// Why ranges were not split or merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// The ranges are not such that it can be done.
    #[error("{0}")]
    Refused(String),
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A collection of documents.
#[derive(Debug)]
pub struct Collection {
    core: Arc<Core>,
    setup: Setup,
    rid: String,
    link: String,
    index: RwLock<Index>,
}

impl Collection {
    pub(crate) fn new(core: Arc<Core>, setup: Setup, index: Index) -> Self {
        let database = rid(&[&setup.database.to_be_bytes()]);
        let rid = rid(&[
            &setup.database.to_be_bytes(),
            &setup.collection.to_be_bytes(),
        ]);
        Self {
            core,
            setup,
            link: format!("dbs/{database}/colls/{rid}/"),
            rid,
            index: RwLock::new(index),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.setup.name
    }

    /// The name of its database.
    pub fn database(&self) -> &str {
        &self.setup.owner
    }

    /// The resource id. A collection made anew under the same name has another (P1).
    pub fn rid(&self) -> &str {
        &self.rid
    }

    /// What else its maker said of it.
    pub fn properties(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.setup.properties
    }

    /// When it was made, in seconds of the epoch.
    pub fn created_at(&self) -> i64 {
        self.setup.at
    }

    /// The physical range that holds a key, and its newest sequence number.
    pub fn locate(&self, partition_key: &PartitionKey) -> (Range, u64) {
        let index = self.read_index();
        let range = &index.ranges[index.at(partition_key.epk())];
        (range.range.clone(), range.end)
    }

    /// A number that every split and merge raises.
    pub fn topology(&self) -> u32 {
        self.read_index().next_range
    }

    /// Living documents of a key range inside one physical range, in the order in which they were made, after a document's
    /// number, at most so many: the number and the text of each.
    pub fn documents(
        &self,
        min: &str,
        max: &str,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, Bytes)>, FeedError> {
        let (low, high) = bounds(min, max)?;
        let now = self.core.now();
        let (places, medium) = {
            let index = self.read_index();
            let range = self.holding(&index, (low, high), min, max)?;
            let default_ttl = index.config.default_ttl;
            // The greatest number so far on top, so that it gives way to a smaller one.
            let mut first = BinaryHeap::with_capacity(most.saturating_add(1).min(4096));
            for living in range.latest.values() {
                let is_meant = living.document > after
                    && (low..high).contains(&living.epk)
                    && living.expires(default_ttl).is_none_or(|at| at > now);
                if is_meant {
                    first.push((
                        living.document,
                        living.location.offset,
                        living.location.size,
                    ));
                    if first.len() > most {
                        first.pop();
                    }
                }
            }
            (first.into_sorted_vec(), self.core.medium())
        };
        let document = |(number, offset, size)| {
            let item = self.read_from(&medium, Location { offset, size })?;
            Ok((number, item.current.unwrap_or_default()))
        };
        places.into_iter().map(document).collect()
    }

    /// How it is set up now.
    pub fn config(&self) -> CollectionConfig {
        self.read_index().config.clone()
    }

    /// The physical ranges, in the order of the key space.
    pub fn ranges(&self) -> Vec<Range> {
        let index = self.read_index();
        index
            .ranges
            .iter()
            .map(|range| range.range.clone())
            .collect()
    }

    /// The number of documents.
    pub fn count(&self) -> u64 {
        self.read_index().count(self.core.now())
    }

    /// Writes a new document. One of the same id and partition key is a conflict.
    pub fn create(&self, body: impl Into<Bytes>) -> Result<Written, DocumentError> {
        self.write(Write::Create(body.into()))
    }

    /// Writes a new version of a document.
    pub fn replace(&self, body: impl Into<Bytes>) -> Result<Written, DocumentError> {
        self.write(Write::Replace(body.into()))
    }

    /// Creates or replaces a document.
    pub fn upsert(&self, body: impl Into<Bytes>) -> Result<Written, DocumentError> {
        self.write(Write::Upsert(body.into()))
    }

    /// Deletes a document.
    pub fn delete(&self, id: &str, partition_key: &PartitionKey) -> Result<Written, DocumentError> {
        self.write(Write::Delete {
            id: id.to_owned(),
            partition_key: partition_key.clone(),
        })
    }

    /// Makes one write.
    #[expect(clippy::missing_panics_doc, reason = "a group of one has one answer")]
    pub fn write(&self, write: Write) -> Result<Written, DocumentError> {
        let mut written = self.write_many([write]).map_err(|error| error.source)?;
        Ok(written.pop().expect("each write has its answer"))
    }

    /// Makes a group of writes, in order, each with its own sequence number, as one append to the
    /// journal: all of them or, when one is refused, none. Later writes see what earlier ones did.
    pub fn write_many(
        &self,
        writes: impl IntoIterator<Item = Write>,
    ) -> Result<Vec<Written>, GroupError> {
        let steps = writes.into_iter().map(Step::from);
        let done = self.execute(steps, Numbering::Each)?;
        Ok(done.into_iter().map(|done| done.written).collect())
    }

    /// The same for steps with preconditions, numbered as is said.
    pub fn execute(
        &self,
        steps: impl IntoIterator<Item = Step>,
        numbering: Numbering,
    ) -> Result<Vec<Done>, GroupError> {
        let at = |index| move |source: DocumentError| GroupError { index, source };
        let segments = self.setup.config.segments();
        let checked = steps
            .into_iter()
            .enumerate()
            .map(|(index, step)| Checked::new(step, &segments).map_err(at(index)))
            .collect::<Result<Vec<_>, _>>()?;
        if checked.is_empty() {
            return Ok(Vec::new());
        }

        let mut turn = self.core.writer();
        let now = self.core.now();
        self.purge_expired(&mut turn, now)
            .map_err(|error| at(0)(error.into()))?;
        let index = self.read_index();
        if index.is_dropped {
            let collection = self.name().to_owned();
            return Err(at(0)(DocumentError::Dropped { collection }));
        }
        let mut plan = Plan::new(self, &index, numbering, turn.journal.next_payload(), now);
        let mut done = Vec::with_capacity(checked.len());
        for (position, step) in checked.into_iter().enumerate() {
            done.push(plan.add(step, &mut turn.rng).map_err(at(position))?);
            let size = plan.frame.size() - FRAME;
            if size > PAYLOAD_LIMIT {
                return Err(at(position)(DocumentError::TooLarge {
                    size,
                    limit: PAYLOAD_LIMIT,
                }));
            }
        }
        let Plan {
            mut frame, applied, ..
        } = plan;
        drop(index);
        if applied.is_empty() {
            return Ok(done);
        }
        turn.journal
            .append(&mut frame.bytes)
            .map_err(|error| at(0)(error.into()))?;
        self.take_in(&applied);
        self.core.compact_if_due(&mut turn);
        Ok(done)
    }

    /// Splits a physical range in two even ones, which go on with its sequence numbers and history.
    pub fn split(&self, range: &str) -> Result<[Range; 2], RangeError> {
        let mut turn = self.core.writer();
        let children = self
            .read_index()
            .halves(range)
            .map_err(RangeError::Refused)?;
        turn.append(&Act::Split {
            collection: self.number(),
            parent: range.to_owned(),
            children: children.clone(),
        })?;
        self.write_index()
            .split(range, children.clone())
            .map_err(RangeError::Refused)?;
        Ok(children)
    }

    /// Merges two neighbouring physical ranges. History ends there: an all-versions reader cannot go on.
    pub fn merge(&self, ranges: [&str; 2]) -> Result<Range, RangeError> {
        let mut turn = self.core.writer();
        let child = self
            .read_index()
            .union(ranges)
            .map_err(RangeError::Refused)?;
        turn.append(&Act::Merge {
            collection: self.number(),
            parents: ranges.map(str::to_owned),
            child: child.clone(),
        })?;
        self.write_index()
            .merge(ranges, child.clone())
            .map_err(RangeError::Refused)?;
        Ok(child)
    }

    fn take_in(&self, applied: &[(u128, Head, Location)]) {
        let mut index = self.write_index();
        for (identity, head, location) in applied {
            index.apply(*identity, head, *location);
        }
        index.announce();
    }

    /// Reads a document. An expired one is not found, purged or not.
    pub fn read(&self, id: &str, partition_key: &PartitionKey) -> Result<FeedItem, DocumentError> {
        plan::check(id, partition_key, &self.setup.config.segments())?;
        let text = partition_key.to_string();
        let identity = document::identity(&text, id);
        let now = self.core.now();
        let found = {
            let index = self.read_index();
            if index.is_dropped {
                let collection = self.name().to_owned();
                return Err(DocumentError::Dropped { collection });
            }
            let default_ttl = index.config.default_ttl;
            let range = &index.ranges[index.at(partition_key.epk())];
            range
                .find(identity)
                .filter(|(_, living)| living.expires(default_ttl).is_none_or(|at| at > now))
                .map(|(_, living)| (living.location, self.core.medium()))
        };
        let (location, medium) = found.ok_or_else(|| DocumentError::NotFound {
            collection: self.name().to_owned(),
            id: id.to_owned(),
            partition_key: text,
        })?;
        Ok(self.read_from(&medium, location)?)
    }

    /// Deletes what has expired and forgets changes before the retention window. Writes and reads
    /// of the feed do it too.
    pub fn purge(&self) -> Result<(), JournalError> {
        let now = self.core.now();
        if !self.read_index().is_due(now) {
            return Ok(());
        }
        let mut writer = self.core.writer();
        self.purge_expired(&mut writer, now)?;
        self.write_index().prune(now);
        Ok(())
    }

    /// Reads one page of the feed.
    pub fn read_feed(&self, request: &FeedRequest) -> Result<FeedPage, FeedError> {
        self.purge()?;
        let bounds = bounds(&request.min, &request.max)?;
        let (selection, medium) = self.select(request, bounds)?;
        selection
            .read(&medium, request.mode)
            .map_err(|error| self.page_error(error).into())
    }

    /// The newest sequence number of the physical range that holds a key range.
    pub fn end(&self, min: &str, max: &str) -> Result<u64, FeedError> {
        let (low, high) = bounds(min, max)?;
        let index = self.read_index();
        Ok(self.holding(&index, (low, high), min, max)?.end)
    }

    /// Resolves once the physical range that holds a key range has something newer than `after`.
    pub fn changed(
        &self,
        min: &str,
        max: &str,
        after: u64,
    ) -> impl Future<Output = Result<(), FeedError>> + Send + use<> {
        let moved = bounds(min, max).and_then(|bounds| {
            let index = self.read_index();
            Ok(self.holding(&index, bounds, min, max)?.moved.subscribe())
        });
        async move {
            moved?
                .wait_for(|end| *end > after)
                .await
                .map(drop)
                // The range was split, merged or dropped: another read tells.
                .or(Ok(()))
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.setup.number
    }

    pub(crate) fn setup(&self) -> Setup {
        Setup {
            config: self.config(),
            ..self.setup.clone()
        }
    }

    pub(crate) fn link(&self) -> &str {
        &self.link
    }

    pub(crate) fn document_rid(&self, document: u64) -> String {
        rid(&[
            &self.setup.database.to_be_bytes(),
            &self.setup.collection.to_be_bytes(),
            // Clients read the document's part from the other end, and compare by it.
            &document.to_le_bytes(),
        ])
    }

    pub(crate) fn read_index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write_index(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The changes that make a page, and the medium in which their places are right.
    fn select(
        &self,
        request: &FeedRequest,
        bounds: (Epk, Epk),
    ) -> Result<(Selection, Arc<Medium>), FeedError> {
        let index = self.read_index();
        Ok((self.pick(&index, request, bounds)?, self.core.medium()))
    }

    fn pick(
        &self,
        index: &Index,
        request: &FeedRequest,
        bounds: (Epk, Epk),
    ) -> Result<Selection, FeedError> {
        let collection = || self.name().to_owned();
        let range = self.holding(index, bounds, &request.min, &request.max)?;
        if request.mode == Mode::AllVersions {
            if index.config.window().is_none() {
                return Err(FeedError::NoRetention {
                    collection: collection(),
                });
            }
            if matches!(
                request.from,
                From::Beginning | From::Time(_) | From::AfterSince(..)
            ) {
                return Err(FeedError::Start {
                    collection: collection(),
                });
            }
        }
        let (after, since) = match request.from {
            From::Now => return Ok(Selection::empty(range.end)),
            From::Beginning => (0, None),
            From::Time(time) => (0, Some(time.as_second())),
            From::After(after) => (after, None),
            From::AfterSince(after, time) => (after, Some(time.as_second())),
        };
        if after > range.end {
            return Err(FeedError::BeyondEnd {
                collection: collection(),
                after,
                end: range.end,
            });
        }
        match request.mode {
            Mode::LatestVersion => Ok(Selection::latest(
                range,
                bounds,
                after,
                since,
                request.max_items,
            )),
            Mode::AllVersions if after < range.merged_at => Err(FeedError::Merged {
                collection: collection(),
                after,
                merged_at: range.merged_at,
            }),
            Mode::AllVersions if after < range.complete_after => {
                Err(FeedError::RetentionExceeded {
                    collection: collection(),
                    after,
                    oldest: range.complete_after,
                })
            }
            Mode::AllVersions => Ok(Selection::all(range, bounds, after, request.max_items)),
        }
    }

    fn holding<'a>(
        &self,
        index: &'a Index,
        (low, high): (Epk, Epk),
        min: &str,
        max: &str,
    ) -> Result<&'a RangeIndex, FeedError> {
        if index.is_dropped {
            return Err(FeedError::Dropped {
                collection: self.name().to_owned(),
            });
        }
        index.holding(low, high).ok_or_else(|| FeedError::Gone {
            collection: self.name().to_owned(),
            min: min.to_owned(),
            max: max.to_owned(),
        })
    }

    /// Deletes what has expired, each document with a sequence number of its own.
    fn purge_expired(&self, writer: &mut Writer, now: i64) -> Result<(), JournalError> {
        loop {
            let index = self.read_index();
            let offset = writer.journal.next_payload();
            let mut plan = Plan::new(self, &index, Numbering::Each, offset, now);
            let expired = index.ranges.iter().flat_map(|range| range.expired(now));
            for living in expired.take(PURGE) {
                let document = self.read_at(living.location)?;
                plan.delete(
                    &document.id,
                    &document.partition_key,
                    document.lsn,
                    living,
                    true,
                );
            }
            let Plan {
                mut frame, applied, ..
            } = plan;
            drop(index);
            if applied.is_empty() {
                return Ok(());
            }
            writer.journal.append(&mut frame.bytes)?;
            self.take_in(&applied);
        }
    }

    /// For who has the writer's turn: nothing moves meanwhile.
    pub(crate) fn read_at(&self, location: Location) -> Result<FeedItem, JournalError> {
        self.read_from(&self.core.medium(), location)
    }

    fn read_from(&self, medium: &Medium, location: Location) -> Result<FeedItem, JournalError> {
        let mut buffer = vec![0; location.size as usize];
        medium
            .read_exact_at(&mut buffer, location.offset)
            .map_err(|error| self.page_error(PageError::Io(error)))?;
        self.item(&buffer.into(), location)
    }

    pub(crate) fn item(&self, bytes: &Bytes, location: Location) -> Result<FeedItem, JournalError> {
        feed::item(bytes, 0, location, Mode::LatestVersion).map_err(|error| self.page_error(error))
    }

    fn page_error(&self, error: PageError) -> JournalError {
        match error {
            PageError::Io(source) => JournalError::Io {
                action: "read",
                path: self.core.path.clone(),
                source,
            },
            PageError::Change(offset) => JournalError::Unreadable {
                path: self.core.path.clone(),
                offset,
                reason: "the change that was written here is not there any more".to_owned(),
            },
        }
    }
}

fn bounds(min: &str, max: &str) -> Result<(Epk, Epk), FeedError> {
    Epk::bound(min)
        .zip(Epk::bound(max))
        .ok_or_else(|| FeedError::Bounds {
            min: min.to_owned(),
            max: max.to_owned(),
        })
}

/// A resource id: Base64 of its parts, with `-` for `/`.
pub(crate) fn rid(parts: &[&[u8]]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    let bytes = parts.concat();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0, |group, at| {
            (group << 8) | u32::from(chunk.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            text.push(if at <= chunk.len() {
                char::from(DIGITS[(group >> (18 - 6 * at)) as usize & 63])
            } else {
                '='
            });
        }
    }
    text
}
