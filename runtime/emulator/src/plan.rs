//! What a group of writes would do: checked against the index and against each other, and laid
//! out as one frame, before anything is written.

use std::collections::HashMap;

use crate::collection::Collection;
use crate::document::{self, ItemTtl, Prepared, System};
use crate::feed::Operation;
use crate::index::{Index, Living};
use crate::key::PartitionKey;
use crate::record::{Frame, Head, Location};
use crate::write::{DocumentError, Write, Written};

/// A write whose body has been checked.
#[derive(Debug)]
pub(crate) enum Checked {
    Create(Prepared),
    Replace(Prepared),
    Upsert(Prepared),
    Delete {
        id: String,
        partition_key: PartitionKey,
    },
}

impl Checked {
    pub(crate) fn new(write: Write, path: &[&str]) -> Result<Self, DocumentError> {
        Ok(match write {
            Write::Create(body) => Self::Create(Prepared::new(&body, path)?),
            Write::Replace(body) => Self::Replace(Prepared::new(&body, path)?),
            Write::Upsert(body) => Self::Upsert(Prepared::new(&body, path)?),
            Write::Delete { id, partition_key } => {
                document::check_id(&id).map_err(|message| DocumentError::BadRequest { message })?;
                Self::Delete { id, partition_key }
            }
        })
    }
}

#[derive(Debug)]
pub(crate) struct Plan<'a> {
    collection: &'a Collection,
    index: &'a Index,
    now: i64,
    pub(crate) frame: Frame,
    pub(crate) applied: Vec<(u128, Head, Location)>,
    /// What this plan made of documents: none for those it deletes.
    made: HashMap<u128, Option<(u64, Living)>>,
    /// The newest sequence number and time stamp of each range.
    ends: Vec<(u64, i64)>,
    documents: u64,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(collection: &'a Collection, index: &'a Index, offset: u64, now: i64) -> Self {
        Self {
            collection,
            index,
            now,
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
        write: Checked,
        rng: &mut fastrand::Rng,
    ) -> Result<Written, DocumentError> {
        let (prepared, must_exist, must_be_new) = match write {
            Checked::Create(prepared) => (prepared, false, true),
            Checked::Replace(prepared) => (prepared, true, false),
            Checked::Upsert(prepared) => (prepared, false, false),
            Checked::Delete { id, partition_key } => {
                let partition_key_text = partition_key.to_string();
                let identity = document::identity(&partition_key_text, &id);
                let epk = partition_key.epk();
                let (lsn, living) = self
                    .find(identity, epk)
                    .ok_or_else(|| self.missing(&id, &partition_key_text))?;
                return Ok(self.delete(&id, &partition_key_text, lsn, &living, false));
            }
        };
        let partition_key = prepared.partition_key.to_string();
        let identity = document::identity(&partition_key, &prepared.id);
        let epk = prepared.partition_key.epk();
        let old = self.find(identity, epk);
        match old {
            Some(_) if must_be_new => {
                return Err(DocumentError::Conflict {
                    collection: self.collection.name().to_owned(),
                    id: prepared.id,
                    partition_key,
                });
            }
            None if must_exist => return Err(self.missing(&prepared.id, &partition_key)),
            _ => {}
        }
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

        let (lsn, ts) = self.stamp(epk);
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
            place: 0,
            ttl,
            ts,
            previous_lsn: old.map_or(0, |(lsn, _)| lsn),
            document,
            epk,
        };
        let guid = guid(rng);
        let etag = format!("\"{guid}\"");
        let rid = self.collection.document_rid(document);
        let id = prepared.id.clone();
        let body = prepared.body(&System {
            rid: &rid,
            link: self.collection.link(),
            etag: &guid,
            ts,
        });
        let location = self.frame.push(&head, &id, &partition_key, &etag, &body);
        self.record(identity, head, location);
        Ok(Written {
            operation: head.operation,
            lsn,
            ts,
            etag: Some(etag),
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
        let (lsn, ts) = self.stamp(living.epk);
        let head = Head {
            operation: Operation::Delete,
            expired,
            previous: self.index.config.previous_images,
            lsn,
            place: 0,
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

    fn find(&self, identity: u128, epk: u128) -> Option<(u64, Living)> {
        match self.made.get(&identity) {
            Some(made) => *made,
            None => self.index.ranges[self.index.at(epk)].find(identity),
        }
    }

    /// The next sequence number of a key's range and the time stamp that goes with it.
    fn stamp(&mut self, epk: u128) -> (u64, i64) {
        let (lsn, ts) = &mut self.ends[self.index.at(epk)];
        *lsn += 1;
        *ts = self.now.max(*ts);
        (*lsn, *ts)
    }

    fn record(&mut self, identity: u128, head: Head, location: Location) {
        let living = (head.operation != Operation::Delete).then_some((
            head.lsn,
            Living {
                identity,
                epk: head.epk,
                location,
                ts: head.ts,
                document: head.document,
                ttl: head.ttl,
            },
        ));
        self.made.insert(identity, living);
        self.applied.push((identity, head, location));
    }

    fn missing(&self, id: &str, partition_key: &str) -> DocumentError {
        DocumentError::NotFound {
            collection: self.collection.name().to_owned(),
            id: id.to_owned(),
            partition_key: partition_key.to_owned(),
        }
    }
}

fn guid(rng: &mut fastrand::Rng) -> String {
    uuid::Builder::from_random_bytes(rng.u128(..).to_be_bytes())
        .into_uuid()
        .to_string()
}
