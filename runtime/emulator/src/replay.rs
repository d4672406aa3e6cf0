//! What a journal says, taken in frame by frame when it is opened.

use std::collections::BTreeMap;

use crate::document;
use crate::index::Index;
use crate::record::{Act, Change, Database, Entries, Location, Record, Setup};

/// What the frames so far came to.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    pub(crate) databases: BTreeMap<String, Database>,
    /// By the collection's number.
    pub(crate) collections: BTreeMap<u32, (Setup, Index)>,
}

impl Replay {
    /// Takes one frame in.
    pub(crate) fn take(&mut self, offset: u64, payload: &[u8]) -> Result<(), String> {
        match Record::read(payload, offset)? {
            Record::Setup(setup) => {
                if let Some((stored, index)) = self.collections.get_mut(&setup.number) {
                    index.reconfigure(setup.config.clone());
                    stored.config = setup.config;
                } else {
                    let index = Index::new(setup.config.clone());
                    self.collections.insert(setup.number, (setup, index));
                }
            }
            Record::Act(act) => self.act(act)?,
            Record::Changes {
                collection,
                entries,
            } => {
                let index = self.index(collection)?;
                index.ready();
                each(index, entries, |index, identity, change, location| {
                    let end = index.ranges[index.at(change.head.epk)].end;
                    if change.head.lsn < end {
                        return Err(format!("sequence number {} follows {end}", change.head.lsn));
                    }
                    index.apply(identity, &change.head, location);
                    Ok(())
                })?;
            }
            Record::Kept {
                collection,
                entries,
            } => each(
                self.index(collection)?,
                entries,
                |index, identity, change, location| {
                    index.keep(identity, &change.head, change.role, location);
                    Ok(())
                },
            )?,
        }
        Ok(())
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Database(database) => {
                self.databases.insert(database.name.clone(), database);
            }
            Act::DropDatabase { name } => {
                self.databases.remove(&name);
                self.collections.retain(|_, (setup, _)| setup.owner != name);
            }
            Act::DropCollection { number } => {
                self.collections.remove(&number);
            }
            Act::Split {
                collection,
                parent,
                children,
            } => self.index(collection)?.split(&parent, children)?,
            Act::Merge {
                collection,
                parents: [left, right],
                child,
            } => self.index(collection)?.merge([&left, &right], child)?,
            Act::Snapshot {
                collection,
                documents,
                next_range,
                ranges,
            } => self
                .index(collection)?
                .restore(documents, next_range, ranges),
        }
        Ok(())
    }

    fn index(&mut self, number: u32) -> Result<&mut Index, String> {
        self.collections
            .get_mut(&number)
            .map(|(_, index)| index)
            .ok_or_else(|| format!("collection number {number} was never made"))
    }
}

fn each(
    index: &mut Index,
    entries: Entries<'_>,
    mut take: impl FnMut(&mut Index, u128, &Change, Location) -> Result<(), String>,
) -> Result<(), String> {
    for entry in entries {
        let (change, location, bytes) = entry?;
        let text = |range: std::ops::Range<usize>| {
            std::str::from_utf8(&bytes[range])
                .map_err(|_| "a change's text is not UTF-8".to_owned())
        };
        let partition_key = text(change.partition_key.clone())?;
        let identity = document::identity(partition_key, text(change.id.clone())?);
        if index.at(change.head.epk) == index.ranges.len() {
            return Err("a change lies outside the key space".to_owned());
        }
        take(index, identity, &change, location)?;
    }
    Ok(())
}
