//! Who owns a journal: one process, by a lock that the system takes back when it dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::{fmt, process};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const FILE: &str = "emulator.lock";

/// The process that owns a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its process id.
    pub pid: u32,
    /// What it runs.
    pub program: String,
    /// Since when.
    pub since: Timestamp,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            program,
            since,
        } = self;
        write!(f, "process {pid} ({program}, since {since:.0})")
    }
}

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(File);

pub(crate) enum Taken {
    Mine(Lock),
    /// None if the owner has not written who it is yet.
    Other(Option<Owner>),
}

impl Lock {
    pub(crate) fn take(dir: &Path, program: &str, now: Timestamp) -> io::Result<Taken> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path(dir))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                return Ok(Taken::Other(serde_json::from_str(&text).ok()));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let owner = Owner {
            pid: process::id(),
            program: program.to_owned(),
            since: now,
        };
        file.set_len(0)?;
        file.write_all(&serde_json::to_vec(&owner).expect("an owner has a JSON text"))?;
        Ok(Taken::Mine(Self(file)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file stays: removing a lock file lets two processes hold a lock of the same name.
        // Unlocked by hand: closing would leave the lock to a child process that is just being started and has the file
        // until it runs its own program.
        if let Err(error) = self.0.set_len(0).and_then(|()| self.0.unlock()) {
            tracing::debug!(%error, "cannot empty or unlock the lock file");
        }
    }
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}
