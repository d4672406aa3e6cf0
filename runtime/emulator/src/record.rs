//! What stands in a frame of the journal: a collection's set-up, the changes that one call
//! made to a collection, what happened to databases and ranges, or what a compaction kept.
//!
//! A change carries what the index needs first, at fixed places, then id, partition key, etag and
//! body as text, so that a page of the feed is slices of what was read.

use serde::{Deserialize, Serialize};

use crate::config::{CollectionConfig, Range};
use crate::feed::Operation;
use crate::hash::Epk;
use crate::journal::FRAME;

const COLLECTION: u8 = 1;
const CHANGES: u8 = 2;
const ACT: u8 = 3;
const KEPT: u8 = 4;
/// The bytes of a change before its texts.
const HEAD: usize = 56 + Epk::SIZE;
/// Where its flags are.
const FLAGS: usize = 4;

const DELETED: u8 = 1;
const CREATED: u8 = 2;
const EXPIRED: u8 = 4;
const PREVIOUS: u8 = 8;
/// Of a kept change: it is the newest version of a living document.
const LIVING: u8 = 16;
/// Of a kept change: the all-versions feed shows it.
const RETAINED: u8 = 32;

/// Where a change lies in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) offset: u64,
    pub(crate) size: u32,
}

/// A collection's identity and set-up. A later record of the same number changes the set-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) number: u32,
    pub(crate) name: String,
    /// The name of its database.
    pub(crate) owner: String,
    /// The database's part of the resource id.
    pub(crate) database: u32,
    /// The collection's part of it.
    pub(crate) collection: u32,
    pub(crate) config: CollectionConfig,
    /// What else its maker said of it: shown, and nothing more.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub(crate) properties: serde_json::Map<String, serde_json::Value>,
    /// When, in seconds of the epoch.
    pub(crate) at: i64,
}

/// What happened to something other than documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Act {
    /// A database was made.
    Database(Database),
    /// A database and all its collections were deleted.
    DropDatabase { name: String },
    /// A collection was deleted.
    DropCollection { number: u32 },
    /// A range was split.
    Split {
        collection: u32,
        parent: String,
        children: [Range; 2],
    },
    /// Two neighbours became one range.
    Merge {
        collection: u32,
        parents: [String; 2],
        child: Range,
    },
    /// Where a collection stood when the journal was compacted. What was kept follows.
    Snapshot {
        collection: u32,
        documents: u64,
        next_range: u32,
        ranges: Vec<RangeState>,
    },
}

/// A database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Database {
    pub(crate) name: String,
    /// Its part of resource ids.
    pub(crate) number: u32,
    /// When, in seconds of the epoch.
    pub(crate) at: i64,
}

/// Where a range stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RangeState {
    pub(crate) range: Range,
    pub(crate) end: u64,
    pub(crate) ts: i64,
    pub(crate) complete_after: u64,
    pub(crate) merged_at: u64,
}

/// Why a compaction kept a change. A change that is neither is shown as another's previous version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Role {
    /// It is the newest version of a living document.
    pub(crate) living: bool,
    /// The all-versions feed shows it.
    pub(crate) retained: bool,
}

/// What the index keeps of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) operation: Operation,
    pub(crate) expired: bool,
    /// Whether the feed shows the version before.
    pub(crate) previous: bool,
    pub(crate) lsn: u64,
    /// Its place among the changes of one sequence number.
    pub(crate) place: u32,
    /// The document's own time to live: seconds, -1 for never, 0 for none said.
    pub(crate) ttl: i32,
    pub(crate) ts: i64,
    /// The sequence number of the version before, 0 if there is none.
    pub(crate) previous_lsn: u64,
    /// The document's number in the collection.
    pub(crate) document: u64,
    pub(crate) epk: Epk,
}

/// A change and where its texts lie, as offsets from its own begin.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) head: Head,
    pub(crate) role: Role,
    pub(crate) id: std::ops::Range<usize>,
    pub(crate) partition_key: std::ops::Range<usize>,
    pub(crate) etag: std::ops::Range<usize>,
    pub(crate) body: std::ops::Range<usize>,
}

/// A frame in the making.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// Where its payload will begin in the journal.
    offset: u64,
}

impl Frame {
    pub(crate) fn setup(setup: &Setup, offset: u64) -> Self {
        let mut bytes = vec![0; FRAME];
        bytes.push(COLLECTION);
        serde_json::to_writer(&mut bytes, setup).expect("a set-up has a JSON text");
        Self { bytes, offset }
    }

    pub(crate) fn act(act: &Act, offset: u64) -> Self {
        let mut bytes = vec![0; FRAME];
        bytes.push(ACT);
        serde_json::to_writer(&mut bytes, act).expect("an act has a JSON text");
        Self { bytes, offset }
    }

    pub(crate) fn changes(collection: u32, offset: u64) -> Self {
        Self::of(CHANGES, collection, offset)
    }

    /// A frame of what a compaction keeps.
    pub(crate) fn kept(collection: u32, offset: u64) -> Self {
        Self::of(KEPT, collection, offset)
    }

    fn of(kind: u8, collection: u32, offset: u64) -> Self {
        let mut bytes = vec![0; FRAME];
        bytes.push(kind);
        bytes.extend_from_slice(&collection.to_le_bytes());
        Self { bytes, offset }
    }

    /// Takes over a change as it was read from the journal, and says where it will lie.
    pub(crate) fn keep(&mut self, change: &[u8], role: Role) -> Location {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(change);
        let flags = &mut self.bytes[start + FLAGS];
        *flags &= !(LIVING | RETAINED);
        *flags |= if role.living { LIVING } else { 0 };
        *flags |= if role.retained { RETAINED } else { 0 };
        Location {
            offset: self.offset + (start - FRAME) as u64,
            size: u32::try_from(change.len()).expect("changes are below their limit"),
        }
    }

    /// The bytes of a change of this frame. None if it lies elsewhere.
    pub(crate) fn change(&self, location: Location) -> Option<&[u8]> {
        let start = usize::try_from(location.offset.checked_sub(self.offset)?).ok()? + FRAME;
        self.bytes.get(start..start + location.size as usize)
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a change and says where it will lie.
    pub(crate) fn push(
        &mut self,
        head: &Head,
        id: &str,
        partition_key: &str,
        etag: &str,
        body: &[u8],
    ) -> Location {
        let short = |length: usize| u32::try_from(length).expect("texts are below their limits");
        let start = self.bytes.len();
        let size = short(HEAD + id.len() + partition_key.len() + etag.len() + body.len());
        let operation = match head.operation {
            Operation::Delete => DELETED,
            Operation::Create => CREATED,
            Operation::Replace | Operation::Upsert => 0,
        };
        let expired = if head.expired { EXPIRED } else { 0 };
        let previous = if head.previous { PREVIOUS } else { 0 };
        let bytes = &mut self.bytes;
        bytes.reserve(size as usize);
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.push(operation | expired | previous);
        bytes.push(u8::try_from(etag.len()).expect("etags are short"));
        bytes.extend_from_slice(
            &u16::try_from(id.len())
                .expect("ids are below their limit")
                .to_le_bytes(),
        );
        bytes.extend_from_slice(&short(partition_key.len()).to_le_bytes());
        bytes.extend_from_slice(&short(body.len()).to_le_bytes());
        bytes.extend_from_slice(&head.lsn.to_le_bytes());
        bytes.extend_from_slice(&head.place.to_le_bytes());
        bytes.extend_from_slice(&head.ttl.to_le_bytes());
        bytes.extend_from_slice(&head.ts.to_le_bytes());
        bytes.extend_from_slice(&head.previous_lsn.to_le_bytes());
        bytes.extend_from_slice(&head.document.to_le_bytes());
        bytes.extend_from_slice(&head.epk.to_bytes());
        debug_assert_eq!(bytes.len(), start + HEAD);
        bytes.extend_from_slice(id.as_bytes());
        bytes.extend_from_slice(partition_key.as_bytes());
        bytes.extend_from_slice(etag.as_bytes());
        bytes.extend_from_slice(body);
        Location {
            offset: self.offset + (start - FRAME) as u64,
            size,
        }
    }
}

impl Change {
    /// Reads the change that `bytes` begin with. None if they are no change.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, u32)> {
        let mut rest = bytes;
        let size = u32::from_le_bytes(take(&mut rest)?);
        let [flags] = take(&mut rest)?;
        let [etag] = take(&mut rest)?;
        let id = usize::from(u16::from_le_bytes(take(&mut rest)?));
        let partition_key = u32::from_le_bytes(take(&mut rest)?) as usize;
        let body = u32::from_le_bytes(take(&mut rest)?) as usize;
        let head = Head {
            operation: match flags & (DELETED | CREATED) {
                DELETED => Operation::Delete,
                CREATED => Operation::Create,
                0 => Operation::Replace,
                _ => return None,
            },
            expired: flags & EXPIRED != 0,
            previous: flags & PREVIOUS != 0,
            lsn: u64::from_le_bytes(take(&mut rest)?),
            place: u32::from_le_bytes(take(&mut rest)?),
            ttl: i32::from_le_bytes(take(&mut rest)?),
            ts: i64::from_le_bytes(take(&mut rest)?),
            previous_lsn: u64::from_le_bytes(take(&mut rest)?),
            document: u64::from_le_bytes(take(&mut rest)?),
            epk: Epk::from_bytes(take(&mut rest)?),
        };
        let id = HEAD..HEAD + id;
        let partition_key = id.end..id.end + partition_key;
        let etag = partition_key.end..partition_key.end + usize::from(etag);
        let body = etag.end..etag.end + body;
        (body.end == size as usize && body.end <= bytes.len()).then_some((
            Self {
                head,
                role: Role {
                    living: flags & LIVING != 0,
                    retained: flags & RETAINED != 0,
                },
                id,
                partition_key,
                etag,
                body,
            },
            size,
        ))
    }
}

/// A frame's payload, read.
#[derive(Debug)]
pub(crate) enum Record<'a> {
    Setup(Setup),
    Changes {
        collection: u32,
        entries: Entries<'a>,
    },
    Act(Act),
    Kept {
        collection: u32,
        entries: Entries<'a>,
    },
}

impl<'a> Record<'a> {
    /// Reads the payload that begins at `offset` in the journal.
    pub(crate) fn read(mut payload: &'a [u8], offset: u64) -> Result<Self, String> {
        let size = payload.len();
        let [kind] = take(&mut payload).ok_or("it is empty")?;
        match kind {
            COLLECTION => serde_json::from_slice(payload)
                .map(Self::Setup)
                .map_err(|error| format!("a collection's set-up does not decode: {error}")),
            ACT => serde_json::from_slice(payload)
                .map(Self::Act)
                .map_err(|error| format!("what it says does not decode: {error}")),
            CHANGES | KEPT => {
                let collection = u32::from_le_bytes(take(&mut payload).ok_or("it is cut short")?);
                let entries = Entries {
                    offset: offset + (size - payload.len()) as u64,
                    rest: payload,
                };
                Ok(if kind == KEPT {
                    Self::Kept {
                        collection,
                        entries,
                    }
                } else {
                    Self::Changes {
                        collection,
                        entries,
                    }
                })
            }
            _ => Err(format!(
                "its kind is {kind}, which this version does not know"
            )),
        }
    }
}

/// The changes of a frame, each with its location and its bytes.
#[derive(Debug)]
pub(crate) struct Entries<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<(Change, Location, &'a [u8]), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let Some((change, size)) = Change::read(self.rest) else {
            self.rest = &[];
            return Some(Err("a change does not decode".to_owned()));
        };
        let (bytes, rest) = self.rest.split_at(size as usize);
        let location = Location {
            offset: self.offset,
            size,
        };
        self.rest = rest;
        self.offset += u64::from(size);
        Some(Ok((change, location, bytes)))
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
