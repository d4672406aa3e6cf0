//! Compaction of the journal: what nobody can read any more is left out of a new one, which takes the old one's place.
//!
//! The new journal is written beside the old and renamed over it, so that at every moment one whole journal is there.
//! It begins when less than half of the journal is still needed: the disk never holds much more than three times what is,
//! the copy included.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use crate::collection::Collection;
use crate::emulator::{Core, Writer};
use crate::journal::{FRAME, Journal, JournalError};
use crate::medium::Medium;
use crate::record::{Act, Frame, Location, Role};

/// The size of a frame of what is kept.
const CHUNK: usize = 1024 * 1024;

/// When the next compaction is due.
#[derive(Debug)]
pub(crate) struct Compaction {
    /// A journal smaller than this is left alone.
    least: u64,
    /// The size at which to look again.
    look_at: u64,
}

impl Compaction {
    pub(crate) fn new(least: u64) -> Self {
        Self {
            least,
            look_at: least,
        }
    }
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("journal.new")
}

/// Removes what a compaction that was cut off left.
pub(crate) fn clear_up(path: &Path) -> io::Result<()> {
    match fs::remove_file(beside(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Core {
    /// Compacts the journal where that is worth it. A compaction that fails leaves everything as it was.
    pub(crate) fn compact_if_due(&self, writer: &mut Writer) {
        let size = writer.journal.end();
        if size < writer.compaction.look_at {
            return;
        }
        let collections: Vec<_> = writer
            .collections
            .values()
            .filter_map(Weak::upgrade)
            .collect();
        let needed: u64 = collections
            .iter()
            .map(|collection| collection.read_index().needed_bytes())
            .sum();
        let limit = (2 * needed).max(writer.compaction.least);
        if size >= limit
            && let Err(error) = self.compact(writer, &collections)
        {
            // Half of it would keep the disk full that it may have filled.
            if let Err(error) = clear_up(&self.path) {
                tracing::warn!(journal = %self.path.display(), %error, "what was written of a new journal cannot be removed");
            }
            tracing::warn!(
                journal = %self.path.display(), %error,
                "the journal could not be compacted; it goes on as it is"
            );
            // Not again at once.
            writer.compaction.look_at = size.saturating_mul(2);
            return;
        }
        writer.compaction.look_at = limit;
    }

    fn compact(
        &self,
        writer: &mut Writer,
        collections: &[Arc<Collection>],
    ) -> Result<(), JournalError> {
        let old = self.medium();
        let before = writer.journal.end();
        let is_file = matches!(*old, Medium::File(_));
        let path = beside(&self.path);
        let io = |action, path: &Path| {
            let path = path.to_owned();
            move |source| JournalError::Io {
                action,
                path,
                source,
            }
        };
        let fresh = if is_file {
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)
                .map_err(io("open", &path))?;
            Medium::File(file)
        } else {
            Medium::Memory(std::sync::RwLock::default())
        };
        let fresh = Arc::new(fresh);
        // One sync at the end is enough: until the rename nobody relies on it.
        let (mut journal, _) = Journal::open(Arc::clone(&fresh), &path, false, |_, _| Ok(()))?;
        for database in writer.databases() {
            let mut frame = Frame::act(&Act::Database(database.clone()), journal.next_payload());
            journal.append(&mut frame.bytes)?;
        }
        let mut moved = Vec::with_capacity(collections.len());
        for collection in collections {
            moved.push(copy(collection, &old, &mut journal)?);
        }
        fresh.sync().map_err(io("sync", &path))?;
        if is_file {
            fs::rename(&path, &self.path).map_err(io("rename", &path))?;
            // From here on the new journal is the journal: a failure to make that lasting shows the old one after the end
            // of the machine, which is whole too, but lacks what is written from now on. So no write may follow it.
            let folder = self.path.parent().unwrap_or(Path::new("."));
            if let Err(error) = File::open(folder).and_then(|folder| folder.sync_all()) {
                writer.journal.close(format!(
                    "the folder of the new one could not be synced: {error}"
                ));
                return Err(io("sync", folder)(error));
            }
        }
        let mut indexes: Vec<_> = collections
            .iter()
            .map(|collection| collection.write_index())
            .collect();
        for (index, moved) in indexes.iter_mut().zip(&moved) {
            index.relocate(moved);
        }
        tracing::debug!(journal = %self.path.display(), before, after = journal.end(), "compacted the journal");
        writer.journal.replace(journal, &self.path);
        self.set_medium(fresh);
        Ok(())
    }
}

/// Copies what is needed of a collection, and says where it lies now.
fn copy(
    collection: &Collection,
    old: &Medium,
    journal: &mut Journal,
) -> Result<HashMap<u64, Location>, JournalError> {
    let setup = collection.setup();
    let mut frame = Frame::setup(&setup, journal.next_payload());
    journal.append(&mut frame.bytes)?;
    let (snapshot, needed) = {
        let index = collection.read_index();
        let snapshot = Act::Snapshot {
            collection: setup.number,
            documents: index.documents,
            next_range: index.next_range,
            ranges: index.state(),
        };
        (snapshot, index.needed())
    };
    let mut frame = Frame::act(&snapshot, journal.next_payload());
    journal.append(&mut frame.bytes)?;

    let mut moved = HashMap::with_capacity(needed.len());
    let mut frame = Frame::kept(setup.number, journal.next_payload());
    let empty = frame.size();
    let mut bytes = Vec::new();
    for (offset, (size, role)) in needed {
        let role: Role = role;
        bytes.resize(size as usize, 0);
        old.read_exact_at(&mut bytes, offset)
            .map_err(|source| journal.io("read", source))?;
        moved.insert(offset, frame.keep(&bytes, role));
        if frame.size() - FRAME >= CHUNK {
            journal.append(&mut frame.bytes)?;
            frame = Frame::kept(setup.number, journal.next_payload());
        }
    }
    if frame.size() > empty {
        journal.append(&mut frame.bytes)?;
    }
    Ok(moved)
}
