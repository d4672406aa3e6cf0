//! What a journal is written to: a file, or memory for tests. Read at positions, so that readers
//! need no lock and no seek.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{PoisonError, RwLock};

#[derive(Debug)]
pub(crate) enum Medium {
    File(File),
    Memory(RwLock<Vec<u8>>),
    /// Memory that is full at some size: what fits is written, as a full disk does.
    #[cfg(test)]
    Full(RwLock<Vec<u8>>, usize),
}

impl Medium {
    pub(crate) fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Memory(bytes) => Ok(read(bytes).len() as u64),
            #[cfg(test)]
            Self::Full(bytes, _) => Ok(read(bytes).len() as u64),
        }
    }

    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(buffer, offset),
            Self::Memory(bytes) => copy(&read(bytes), buffer, offset),
            #[cfg(test)]
            Self::Full(bytes, _) => copy(&read(bytes), buffer, offset),
        }
    }

    /// Writes at the end, which the caller knows.
    pub(crate) fn append(&self, bytes: &[u8], end: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all_at(bytes, end),
            Self::Memory(all) => {
                write(all).extend_from_slice(bytes);
                Ok(())
            }
            #[cfg(test)]
            Self::Full(all, limit) => {
                let mut all = write(all);
                let room = limit.saturating_sub(all.len()).min(bytes.len());
                all.extend_from_slice(&bytes[..room]);
                if room < bytes.len() {
                    return Err(io::ErrorKind::StorageFull.into());
                }
                Ok(())
            }
        }
    }

    pub(crate) fn truncate(&self, size: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.set_len(size),
            Self::Memory(bytes) => {
                write(bytes).truncate(index(size)?);
                Ok(())
            }
            #[cfg(test)]
            Self::Full(bytes, _) => {
                write(bytes).truncate(index(size)?);
                Ok(())
            }
        }
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync_data(),
            Self::Memory(_) => Ok(()),
            #[cfg(test)]
            Self::Full(..) => Ok(()),
        }
    }
}

fn copy(bytes: &[u8], buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let start = index(offset)?;
    let found = start
        .checked_add(buffer.len())
        .and_then(|end| bytes.get(start..end))
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    buffer.copy_from_slice(found);
    Ok(())
}

fn index(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

// A panic cannot leave a vector of bytes half-made, so a poisoned lock is as good as another.
fn read(bytes: &RwLock<Vec<u8>>) -> std::sync::RwLockReadGuard<'_, Vec<u8>> {
    bytes.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(bytes: &RwLock<Vec<u8>>) -> std::sync::RwLockWriteGuard<'_, Vec<u8>> {
    bytes.write().unwrap_or_else(PoisonError::into_inner)
}
