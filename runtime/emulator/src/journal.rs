//! The journal: an append-only file of frames, each with a checked header and a checked payload.
//!
//! A frame is what one call wrote: all of it counts or nothing. A damaged last frame is a write
//! that never finished and is cut at open. Damage with a whole frame behind it is no torn write:
//! opening is refused and nothing on disk changes. Memory never runs ahead of the disk: a failed
//! append is taken back, or the journal takes no more.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::medium::Medium;

/// What the file begins with: its kind and the version of its format.
pub(crate) const HEADER: [u8; 12] = *b"PJ-EMU\r\n\0\0\0\x02";
/// Magic, length, check of the payload, check of these.
pub(crate) const FRAME: usize = 16;
/// 0xFF stands in no UTF-8 text, so that no document's text looks like a frame.
const MAGIC: [u8; 4] = [0xFF, b'P', b'J', 0xFE];
/// The longest payload.
pub(crate) const PAYLOAD_LIMIT: usize = 256 * 1024 * 1024;

/// What can go wrong with a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refused to read, write or create.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file does not begin as a journal does.
    #[error(
        "{} is not a journal of this version (byte offset 0): {reason}. Nothing was changed; restore the file from a copy, or move it away to start with an empty collection store", path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A frame in the middle is damaged.
    #[error(
        "{} is corrupt at byte offset {offset}: {reason}, and whole frames follow (the next at byte {next}). Nothing was changed; restore the file from a copy, or cut it to {offset} bytes to lose all that was written after (truncate --size={offset}), or move it away to start with an empty collection store", path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the damaged frame begins.
        offset: u64,
        /// Where the next whole frame begins.
        next: u64,
        /// What is wrong with the frame.
        reason: &'static str,
    },
    /// A frame is whole but says something that cannot be.
    #[error(
        "{} has a frame at byte offset {offset} that this version cannot read: {reason}. Nothing was changed; use the version that wrote it, or move the file away to start with an empty collection store", path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Where the frame begins.
        offset: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// An earlier write failed and could not be taken back.
    #[error(
        "{} takes no more writes since one failed ({cause}); free the disk and start the process again", path.display()
    )]
    Closed {
        /// The file.
        path: PathBuf,
        /// Why the earlier write failed.
        cause: String,
    },
}

/// What opening found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Whole frames.
    pub frames: u64,
    /// Bytes of a write that never finished, cut from the end.
    pub cut: u64,
}

#[derive(Debug)]
pub(crate) struct Journal {
    medium: Arc<Medium>,
    path: PathBuf,
    end: u64,
    sync: bool,
    closed: Option<String>,
    #[cfg(feature = "crash-points")]
    crash: crate::crash::Countdown,
}

impl Journal {
    /// Reads every frame, cuts a torn last one and stands at the end. `each` gets the payloads
    /// and their offsets.
    pub(crate) fn open(
        medium: Arc<Medium>,
        path: &Path,
        sync: bool,
        mut each: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> Result<(Self, Recovery), JournalError> {
        let io = |action| {
            move |source| JournalError::Io {
                action,
                path: path.to_owned(),
                source,
            }
        };
        let mut journal = Self {
            medium,
            path: path.to_owned(),
            end: 0,
            sync,
            closed: None,
            #[cfg(feature = "crash-points")]
            crash: crate::crash::Countdown::from_env(),
        };
        let size = journal.medium.size().map_err(io("read"))?;
        let mut recovery = Recovery::default();
        if journal.begin(size)? {
            recovery.cut = size;
            return Ok((journal, recovery));
        }

        let mut payload = Vec::new();
        journal.end = HEADER.len() as u64;
        while journal.end < size {
            let offset = journal.end;
            if let Err(reason) = journal
                .frame(offset, size, &mut payload)
                .map_err(io("read"))?
            {
                if let Some(next) = journal.next(offset + 1, size).map_err(io("read"))? {
                    return Err(JournalError::Corrupt {
                        path: journal.path,
                        offset,
                        next,
                        reason,
                    });
                }
                recovery.cut = size - offset;
                break;
            }
            each(offset + FRAME as u64, &payload).map_err(|reason| JournalError::Unreadable {
                path: path.to_owned(),
                offset,
                reason,
            })?;
            recovery.frames += 1;
            journal.end = offset + (FRAME + payload.len()) as u64;
        }
        if recovery.cut > 0 {
            tracing::warn!(
                journal = %path.display(),
                offset = journal.end,
                bytes = recovery.cut,
                "cut the last write, which never finished, from the journal",
            );
            journal.medium.truncate(journal.end).map_err(io("cut"))?;
            journal.medium.sync().map_err(io("sync"))?;
        }
        Ok((journal, recovery))
    }

    /// Checks the file's header, or writes it. True if the journal is new.
    fn begin(&mut self, size: u64) -> Result<bool, JournalError> {
        let mut found = [0; HEADER.len()];
        let length = size.min(HEADER.len() as u64);
        let found = &mut found[..usize::try_from(length).expect("a header is short")];
        self.medium
            .read_exact_at(found, 0)
            .map_err(|source| self.io("read", source))?;
        if found == HEADER {
            return Ok(false);
        }
        if !HEADER.starts_with(found) {
            let reason = if found.starts_with(&HEADER[..8]) {
                format!(
                    "its format is {:?}, this is {:?}",
                    &found[8..],
                    &HEADER[8..]
                )
            } else {
                "it begins with other bytes".to_owned()
            };
            return Err(JournalError::Foreign {
                path: self.path.clone(),
                reason,
            });
        }
        // Shorter than a header and equal so far: the process that made it died at once.
        self.medium
            .truncate(0)
            .and_then(|()| self.medium.append(&HEADER, 0))
            .and_then(|()| self.medium.sync())
            .map_err(|source| self.io("write", source))?;
        self.end = HEADER.len() as u64;
        Ok(true)
    }

    /// Reads the frame at an offset into `payload`, or says what is wrong with it.
    fn frame(
        &self,
        offset: u64,
        size: u64,
        payload: &mut Vec<u8>,
    ) -> io::Result<Result<(), &'static str>> {
        let mut header = [0; FRAME];
        if size - offset < FRAME as u64 {
            return Ok(Err("the frame's header is cut short"));
        }
        self.medium.read_exact_at(&mut header, offset)?;
        let Some((length, check)) = parse(&header) else {
            return Ok(Err("the frame's header fails its check"));
        };
        if size - offset - (FRAME as u64) < length as u64 {
            return Ok(Err("the frame is cut short"));
        }
        payload.resize(length, 0);
        self.medium.read_exact_at(payload, offset + FRAME as u64)?;
        if crc32fast::hash(payload) != check {
            return Ok(Err("the frame's payload fails its check"));
        }
        Ok(Ok(()))
    }

    /// The offset of the first whole frame at or after `from`, wherever it begins.
    fn next(&self, from: u64, size: u64) -> io::Result<Option<u64>> {
        const WINDOW: usize = 1 << 20;
        let mut window = Vec::new();
        let mut payload = Vec::new();
        let mut start = from;
        while start < size {
            let length = usize::try_from(size - start).unwrap_or(WINDOW).min(WINDOW);
            window.resize(length, 0);
            self.medium.read_exact_at(&mut window, start)?;
            for (at, bytes) in window.windows(MAGIC.len()).enumerate() {
                let offset = start + at as u64;
                if bytes == MAGIC && self.frame(offset, size, &mut payload)?.is_ok() {
                    return Ok(Some(offset));
                }
            }
            if length < WINDOW {
                break;
            }
            // A magic may lie across the border of two windows.
            start += (WINDOW - MAGIC.len() + 1) as u64;
        }
        Ok(None)
    }

    /// Where the payload of the next frame will begin.
    pub(crate) fn next_payload(&self) -> u64 {
        self.end + FRAME as u64
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Appends one frame. Its first [`FRAME`] bytes are room for the header. When this fails, the
    /// journal is as it was before.
    pub(crate) fn append(&mut self, frame: &mut [u8]) -> Result<(), JournalError> {
        if let Some(cause) = &self.closed {
            return Err(JournalError::Closed {
                path: self.path.clone(),
                cause: cause.clone(),
            });
        }
        seal(frame);
        #[cfg(feature = "crash-points")]
        self.crash.append(&self.medium, frame, self.end);
        if let Err(source) = self.medium.append(frame, self.end) {
            if let Err(undo) = self.medium.truncate(self.end) {
                self.closed = Some(format!("{source}; taking it back failed too: {undo}"));
            }
            return Err(self.io("write to", source));
        }
        if self.sync
            && let Err(source) = self.medium.sync()
        {
            // What a failed sync leaves on the disk is unknown, so nothing may follow it.
            self.closed = Some(source.to_string());
            if let Err(undo) = self.medium.truncate(self.end) {
                tracing::error!(journal = %self.path.display(), %undo, "cannot take back a write");
            }
            return Err(self.io("sync", source));
        }
        self.end += frame.len() as u64;
        Ok(())
    }

    /// Takes no more writes, and says why.
    pub(crate) fn close(&mut self, cause: String) {
        self.closed = Some(cause);
    }

    /// Goes on in another medium, which has the same path by now.
    pub(crate) fn replace(&mut self, journal: Self, path: &Path) {
        self.medium = journal.medium;
        self.end = journal.end;
        path.clone_into(&mut self.path);
    }

    pub(crate) fn io(&self, action: &'static str, source: io::Error) -> JournalError {
        JournalError::Io {
            action,
            path: self.path.clone(),
            source,
        }
    }
}

fn parse(header: &[u8; FRAME]) -> Option<(usize, u32)> {
    let number =
        |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes are four"));
    if header[..4] != MAGIC || crc32fast::hash(&header[..12]) != number(12) {
        return None;
    }
    let length = usize::try_from(number(4)).ok()?;
    (length <= PAYLOAD_LIMIT).then(|| (length, number(8)))
}

fn seal(frame: &mut [u8]) {
    let (header, payload) = frame.split_at_mut(FRAME);
    let length = u32::try_from(payload.len()).expect("payloads are below their limit");
    header[..4].copy_from_slice(&MAGIC);
    header[4..8].copy_from_slice(&length.to_le_bytes());
    header[8..12].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let check = crc32fast::hash(&header[..12]);
    header[12..].copy_from_slice(&check.to_le_bytes());
}

#[cfg(test)]
mod tests;
