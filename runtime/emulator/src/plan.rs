//! What a group of writes would do: checked against the index and against each other, and laid
//! out as one frame, before anything is written.

use std::collections::HashMap;

use bytes::Bytes;

use crate::collection::Collection;
use crate::document::{self, ItemTtl, Prepared, System};
use crate::feed::{FeedItem, Operation};
use crate::hash::Epk;
use crate::index::{Index, Living};
use crate::key::PartitionKey;
use crate::patch::{self, Condition, PatchOperation};
use crate::record::{Frame, Head, Location};
use crate::write::{DocumentError, Done, Numbering, Step, Write, Written};

/// A step whose bodies have been checked.
#[derive(Debug)]
pub(crate) struct Checked {
    act: Act,
    if_match: Option<String>,
    if_none_match: Option<String>,
}

#[derive(Debug)]
enum Act {
    Create(Prepared),
    Replace(Prepared),
    Upsert(Prepared),
    Patch {
        id: String,
        partition_key: PartitionKey,
        operations: Vec<PatchOperation>,
        condition: Option<Condition>,
    },
    Delete {
        id: String,
        partition_key: PartitionKey,
    },
    Read {
        id: String,
        partition_key: PartitionKey,
    },
}

impl Checked {
    pub(crate) fn new(step: Step, paths: &[Vec<&str>]) -> Result<Self, DocumentError> {
        let Step {
            write,
            if_match,
            if_none_match,
            partition_key: asked,
        } = step;
        let prepared = |body: &[u8]| {
            let prepared = Prepared::new(body, paths)?;
            match &asked {
                Some(asked) if *asked != prepared.partition_key => {
                    Err(DocumentError::KeyMismatch {
                        found: prepared.partition_key.to_string(),
                        asked: asked.to_string(),
                    })
                }
                _ => Ok(prepared),
            }
        };
        let act = match write {
            Write::Create(body) => Act::Create(prepared(&body)?),
            Write::Replace(body) => Act::Replace(prepared(&body)?),
            Write::Upsert(body) => Act::Upsert(prepared(&body)?),
            Write::Patch {
                id,
                partition_key,
                operations,
                condition,
            } => {
                check(&id, &partition_key, paths)?;
                Act::Patch {
                    id,
                    partition_key,
                    operations,
                    condition,
                }
            }
            Write::Delete { id, partition_key } => {
                check(&id, &partition_key, paths)?;
                Act::Delete { id, partition_key }
            }
            Write::Read { id, partition_key } => {
                check(&id, &partition_key, paths)?;
                Act::Read { id, partition_key }
            }
        };
        Ok(Self {
            act,
            if_match,
            if_none_match,
        })
    }
}

/// Checks the name of a document.
pub(crate) fn check(
    id: &str,
    partition_key: &PartitionKey,
    paths: &[Vec<&str>],
) -> Result<(), DocumentError> {
    document::check_id(id).map_err(|message| DocumentError::BadRequest { message })?;
    if partition_key.levels() != paths.len() {
        return Err(DocumentError::BadRequest {
            message: format!(
                "the partition key {partition_key} has {} values, the collection has {} partition key paths",
                partition_key.levels(),
                paths.len()
            ),
        });
    }
    Ok(())
}

#[derive(Debug)]
pub(crate) struct Plan<'a> {
    collection: &'a Collection,
    index: &'a Index,
    now: i64,
    numbering: Numbering,
    pub(crate) frame: Frame,
    pub(crate) applied: Vec<(u128, Head, Location)>,
    /// What this plan made of documents: none for those it deletes.
    made: HashMap<u128, Option<(u64, Living)>>,
    /// The newest sequence number and time stamp of each range.
    ends: Vec<(u64, i64)>,
    documents: u64,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(
        collection: &'a Collection,
        index: &'a Index,
        numbering: Numbering,
        offset: u64,
        now: i64,
    ) -> Self {
        Self {
            collection,
            index,
            now,
            numbering,
            frame: Frame::changes(collection.number(), offset),
            applied: Vec::new(),
            made: HashMap::new(),
            ends: index
                .ranges
                .iter()
                .map(|range| (range.end, range.ts))
                .collect(),
            documents: index.documents,
        }
    }

    pub(crate) fn add(
        &mut self,
        step: Checked,
        rng: &mut fastrand::Rng,
    ) -> Result<Done, DocumentError> {
        let Checked {
            act,
            if_match,
            if_none_match,
        } = step;
        let (id, partition_key) = match &act {
            Act::Create(prepared) | Act::Replace(prepared) | Act::Upsert(prepared) => {
                (&prepared.id, &prepared.partition_key)
            }
            Act::Patch {
                id, partition_key, ..
            }
            | Act::Delete { id, partition_key }
            | Act::Read { id, partition_key } => (id, partition_key),
        };
        let name = Name {
            id: id.clone(),
            partition_key: partition_key.to_string(),
            epk: partition_key.epk(),
        };
        let old = self.find(name.identity(), name.epk);
        match (&act, old) {
            (Act::Create(_), Some(_)) => {
                return Err(DocumentError::Conflict {
                    collection: self.collection.name().to_owned(),
                    id: name.id,
                    partition_key: name.partition_key,
                });
            }
            (Act::Create(_) | Act::Upsert(_), _) | (_, Some(_)) => {}
            (_, None) => return Err(self.missing(name)),
        }
        // As on the service, an upsert that creates has nothing to compare with, and goes ahead.
        if let Some((_, living)) = old
            && (if_match.is_some() || if_none_match.is_some())
        {
            let etag = self.stored(living.location)?.etag.unwrap_or_default();
            let is = |asked: &str| asked == "*" || asked == &*etag;
            if if_match.as_deref().is_some_and(|asked| !is(asked))
                || if_none_match.as_deref().is_some_and(is)
            {
                return Err(self.unmet(name));
            }
        }
        match (act, old) {
            (Act::Create(prepared) | Act::Replace(prepared) | Act::Upsert(prepared), old) => {
                self.put(prepared, &name, old, rng)
            }
            (
                Act::Patch {
                    operations,
                    condition,
                    ..
                },
                Some((lsn, living)),
            ) => {
                let prepared = self.patch(&name, &living, &operations, condition.as_ref())?;
                self.put(prepared, &name, Some((lsn, living)), rng)
            }
            (Act::Delete { .. }, Some((lsn, living))) => Ok(Done {
                written: self.delete(&name.id, &name.partition_key, lsn, &living, false),
                body: None,
            }),
            (Act::Read { .. }, Some((lsn, living))) => {
                let item = self.stored(living.location)?;
                Ok(Done {
                    written: Written {
                        operation: Operation::Upsert,
                        lsn,
                        ts: living.ts,
                        etag: item.etag.map(|etag| etag.to_string()),
                    },
                    body: item.current,
                })
            }
            (Act::Patch { .. } | Act::Delete { .. } | Act::Read { .. }, None) => {
                Err(self.missing(name))
            }
        }
    }

    /// The document after a patch, which must leave it its name.
    fn patch(
        &self,
        name: &Name,
        living: &Living,
        operations: &[PatchOperation],
        condition: Option<&Condition>,
    ) -> Result<Prepared, DocumentError> {
        let refused = |message| DocumentError::BadRequest { message };
        let item = self.stored(living.location)?;
        let body = item.current.unwrap_or_default();
        if condition.is_some_and(|condition| !condition.holds(&body)) {
            return Err(self.unmet(name.clone()));
        }
        let text = std::str::from_utf8(&body).expect("bodies are checked when they are written");
        let text = patch::patched(text, operations).map_err(refused)?;
        let config = &self.index.config;
        let prepared = Prepared::new(text.as_bytes(), &config.segments())?;
        if prepared.id != name.id || prepared.partition_key.to_string() != name.partition_key {
            return Err(refused(format!(
                "a patch must leave document \"{}\" its \"id\" and its partition key {}",
                name.id, name.partition_key
            )));
        }
        Ok(prepared)
    }

    /// A version as it is stored, in the journal or in this very frame.
    fn stored(&self, location: Location) -> Result<FeedItem, DocumentError> {
        let mine = self.frame.change(location).map(Bytes::copy_from_slice);
        let item = match mine {
            Some(bytes) => self.collection.item(&bytes, location),
            None => self.collection.read_at(location),
        };
        Ok(item?)
    }

    fn put(
        &mut self,
        prepared: Prepared,
        name: &Name,
        old: Option<(u64, Living)>,
        rng: &mut fastrand::Rng,
    ) -> Result<Done, DocumentError> {
        let ttl = match prepared.ttl {
            ItemTtl::Seconds(seconds) => seconds,
            ItemTtl::Invalid if self.index.config.default_ttl.is_some() => {
                return Err(DocumentError::BadRequest {
                    message: format!(
                        "the \"ttl\" of document \"{}\" must be -1 or a whole number of seconds from 1",
                        prepared.id
                    ),
                });
            }
            ItemTtl::Absent | ItemTtl::Invalid => 0,
        };

        let (lsn, place, ts) = self.stamp(name.epk);
        let document = old.map_or_else(
            || {
                self.documents += 1;
                self.documents - 1
            },
            |(_, living)| living.document,
        );
        let head = Head {
            operation: if old.is_some() {
                Operation::Replace
            } else {
                Operation::Create
            },
            expired: false,
            previous: old.is_some() && self.index.config.previous_images,
            lsn,
            place,
            ttl,
            ts,
            previous_lsn: old.map_or(0, |(lsn, _)| lsn),
            document,
            epk: name.epk,
        };
        let guid = guid(rng);
        let etag = format!("\"{guid}\"");
        let rid = self.collection.document_rid(document);
        let body = prepared.body(&System {
            rid: &rid,
            link: self.collection.link(),
            etag: &guid,
            ts,
        });
        let location = self
            .frame
            .push(&head, &name.id, &name.partition_key, &etag, &body);
        self.record(name.identity(), head, location);
        Ok(Done {
            written: Written {
                operation: head.operation,
                lsn,
                ts,
                etag: Some(etag),
            },
            body: Some(body.into()),
        })
    }

    /// Adds a delete of a document that exists.
    pub(crate) fn delete(
        &mut self,
        id: &str,
        partition_key: &str,
        previous_lsn: u64,
        living: &Living,
        expired: bool,
    ) -> Written {
        let (lsn, place, ts) = self.stamp(living.epk);
        let head = Head {
            operation: Operation::Delete,
            expired,
            previous: self.index.config.previous_images,
            lsn,
            place,
            ttl: 0,
            ts,
            previous_lsn,
            document: living.document,
            epk: living.epk,
        };
        let location = self.frame.push(&head, id, partition_key, "", &[]);
        self.record(living.identity, head, location);
        Written {
            operation: Operation::Delete,
            lsn,
            ts,
            etag: None,
        }
    }

    fn find(&self, identity: u128, epk: Epk) -> Option<(u64, Living)> {
        match self.made.get(&identity) {
            Some(made) => *made,
            None => self.index.ranges[self.index.at(epk)].find(identity),
        }
    }

    /// The next sequence number of a key's range, the place among the changes that share it, and the time stamp that
    /// goes with it.
    fn stamp(&mut self, epk: Epk) -> (u64, u32, i64) {
        let (lsn, ts) = &mut self.ends[self.index.at(epk)];
        let place = match self.numbering {
            Numbering::Each => 0,
            Numbering::Shared => u32::try_from(self.applied.len()).expect("batches are short"),
        };
        if place == 0 {
            *lsn += 1;
        }
        *ts = self.now.max(*ts);
        (*lsn, place, *ts)
    }

    fn record(&mut self, identity: u128, head: Head, location: Location) {
        let living = (head.operation != Operation::Delete)
            .then(|| (head.lsn, Living::new(identity, &head, location)));
        self.made.insert(identity, living);
        self.applied.push((identity, head, location));
    }

    fn missing(&self, name: Name) -> DocumentError {
        DocumentError::NotFound {
            collection: self.collection.name().to_owned(),
            id: name.id,
            partition_key: name.partition_key,
        }
    }

    fn unmet(&self, name: Name) -> DocumentError {
        DocumentError::Precondition {
            collection: self.collection.name().to_owned(),
            id: name.id,
            partition_key: name.partition_key,
        }
    }
}

/// What names a document (P3), and where it lies.
#[derive(Clone, Debug)]
struct Name {
    id: String,
    partition_key: String,
    epk: Epk,
}

impl Name {
    fn identity(&self) -> u128 {
        document::identity(&self.partition_key, &self.id)
    }
}

fn guid(rng: &mut fastrand::Rng) -> String {
    uuid::Builder::from_random_bytes(rng.u128(..).to_be_bytes())
        .into_uuid()
        .to_string()
}
