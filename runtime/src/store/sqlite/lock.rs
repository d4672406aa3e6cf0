//! One instance lives on a store at a time: an operating system's lock beside `coordination.db`.
//!
//! The kernel lets go of it when its holder dies, however it dies; the file's content only names the holder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::coordination::Instance;

/// The file in the data directory.
const FILE: &str = "coordination.lock";

/// Who holds the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The instance's name.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// When it started.
    pub started_at: Timestamp,
}

/// A lock that is held, until it is dropped.
#[derive(Debug)]
pub struct InstanceLock {
    file: File,
    path: PathBuf,
}

/// Looks whether a lock is still in its place.
#[derive(Clone, Debug)]
pub struct LockWatch {
    path: PathBuf,
    file: Option<u64>,
}

/// Why the lock was not acquired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another instance lives on this store.
    #[error("{} already runs on the store in {}", name(holder.as_ref()), directory.display())]
    Held {
        /// Who it is. None: it is just now starting.
        holder: Option<Holder>,
        /// The data directory.
        directory: PathBuf,
    },
    /// The file could not be made, locked or written.
    #[error("the lock {} could not be acquired", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

fn name(holder: Option<&Holder>) -> String {
    holder.map_or_else(
        || "another instance".to_owned(),
        |Holder {
             name,
             pid,
             started_at,
         }| { format!("the instance `{name}` (process {pid}, started at {started_at})") },
    )
}

impl InstanceLock {
    /// Acquires the lock of the store in `directory` for `instance`, without waiting.
    ///
    /// # Errors
    ///
    /// If another instance holds it; if the file cannot be made, locked or written.
    pub fn acquire(directory: &Path, instance: &Instance) -> Result<Self, LockError> {
        let path = directory.join(FILE);
        let failed = |source| LockError::Failed {
            path: path.clone(),
            source,
        };
        std::fs::create_dir_all(directory).map_err(failed)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held {
                    holder: holder(&mut file),
                    directory: directory.to_owned(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let content = serde_json::to_vec(&Holder {
            name: instance.name.clone(),
            pid: instance.pid,
            started_at: instance.started_at,
        })
        .map_err(|error| failed(error.into()))?;
        file.set_len(0)
            .and_then(|()| file.write_all(&content))
            .map_err(failed)?;
        Ok(Self { file, path })
    }

    /// A watch over the lock's place: its file removed or replaced, with the data directory or alone, holds nobody
    /// back, and what the instance writes may be gone with it.
    pub fn watch(&self) -> LockWatch {
        LockWatch {
            path: self.path.clone(),
            file: self.file.metadata().ok().map(|file| file.ino()),
        }
    }

    /// Who holds the lock of the store in `directory` now. None: nobody, or somebody just now starting.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn holder(directory: &Path) -> Result<Option<Holder>, LockError> {
        let path = directory.join(FILE);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LockError::Failed { path, source }),
        };
        Ok(match file.try_lock_shared() {
            // Whatever it says, its writer is gone.
            Ok(()) => None,
            Err(_) => holder(&mut file),
        })
    }
}

impl LockWatch {
    /// Whether the file at the lock's place is still the lock's.
    pub fn is_in_place(&self) -> bool {
        super::file(&self.path).ok() == self.file
    }
}

impl Drop for InstanceLock {
    fn drop(&mut self) {
        // The content means nothing without the lock; it goes only so that nobody is misled.
        let _ = self.file.set_len(0);
        // By hand: closing would leave the lock to a child process that is just being started and has the file
        // until it runs its own program.
        let _ = self.file.unlock();
    }
}

/// Takes the lock unless somebody holds it. [`InstanceLock::holder`] shares it for a moment to look, and
/// who only looks must not keep an instance from starting.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    const LOOKS: u32 = 1000;
    for _ in 0..LOOKS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => file.try_lock_shared()?,
            locked => return locked,
        }
        file.unlock().map_err(TryLockError::Error)?;
        std::thread::yield_now();
    }
    file.try_lock()
}

fn holder(file: &mut File) -> Option<Holder> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.read_to_end(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(name: &str) -> Instance {
        Instance {
            name: name.to_owned(),
            incarnation: "1".to_owned(),
            pid: 4711,
            started_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        }
    }

    #[test]
    fn looking_keeps_nobody_from_starting() {
        let directory = tempfile::tempdir().unwrap();
        drop(InstanceLock::acquire(directory.path(), &instance("first")).unwrap());
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| {
                for _ in 0..2000 {
                    InstanceLock::holder(directory.path()).unwrap();
                }
            });
            while !looking.is_finished() {
                drop(InstanceLock::acquire(directory.path(), &instance("next")).unwrap());
            }
        });
    }

    #[test]
    fn a_second_instance_is_refused_and_told_who_is_first() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("made");
        let lock = InstanceLock::acquire(&data, &instance("first")).unwrap();
        let refused = InstanceLock::acquire(&data, &instance("second")).unwrap_err();
        let text = refused.to_string();
        for part in [
            "`first`",
            "4711",
            "2026-01-02T03:04:05Z",
            data.to_str().unwrap(),
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(InstanceLock::holder(&data).unwrap().unwrap().name, "first");
        drop(lock);
        assert_eq!(InstanceLock::holder(&data).unwrap(), None);
        InstanceLock::acquire(&data, &instance("second")).unwrap();
    }

    #[test]
    fn what_a_dead_holder_left_does_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let content = r#"{"name":"a much longer name of the dead","pid":1,"started_at":"2026-01-02T03:04:05Z"}"#;
        std::fs::write(directory.path().join(FILE), content).unwrap();
        assert_eq!(InstanceLock::holder(directory.path()).unwrap(), None);
        let _lock = InstanceLock::acquire(directory.path(), &instance("next")).unwrap();
        let refused = InstanceLock::acquire(directory.path(), &instance("third")).unwrap_err();
        assert!(refused.to_string().contains("`next`"), "{refused}");
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = InstanceLock::acquire(&file.join("data"), &instance("one")).unwrap_err();
        assert!(
            matches!(&error, LockError::Failed { path, .. } if path.starts_with(&file)),
            "{error}"
        );
    }
}
