//! The stores of the data directory: to run on, to look at, to check without a trace.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Config, StoreKind};
use crate::coordination::Coordination;
use crate::coordination::memory::MemoryCoordination;
use crate::coordination::sqlite::SqliteCoordination;
use crate::problem::{Problem, codes};
use crate::store::memory::MemoryStore;
use crate::store::sqlite::lock::{Holder, InstanceLock, LockError};
use crate::store::sqlite::{OpenOptions, SqliteStore};
use crate::store::{Store, StoreError};

/// The store's file in the data directory.
const STORE: &str = "projector.db";
/// The coordination's.
const COORDINATION: &str = "coordination.db";

/// A store's error outside any projection.
pub(crate) fn store_problem(what: &str, error: StoreError) -> Problem {
    let mut problem = crate::problem::causes::store_problem("", error);
    what.clone_into(&mut problem.message);
    problem
}

const CANNOT_OPEN: &str = "the store cannot be opened";

/// The store, to look only. None: there is none yet.
pub(crate) async fn look(config: &Config) -> Result<Option<Arc<dyn Store>>, Problem> {
    let path = config.data_dir.join(STORE);
    if config.store == Some(StoreKind::Memory) || !path.exists() {
        return Ok(None);
    }
    let options = OpenOptions {
        read_only: true,
        create: false,
    };
    let store = SqliteStore::open(path, options)
        .await
        .map_err(|error| store_problem(CANNOT_OPEN, error))?;
    Ok(Some(Arc::new(store)))
}

/// What instances last said, to look only. None: there never was one.
pub(crate) async fn look_at_rolls(
    config: &Config,
) -> Result<Option<Arc<dyn Coordination>>, Problem> {
    let path = config.data_dir.join(COORDINATION);
    if config.store == Some(StoreKind::Memory) || !path.exists() {
        return Ok(None);
    }
    let options = OpenOptions {
        read_only: true,
        create: false,
    };
    let coordination = SqliteCoordination::open(path, options)
        .await
        .map_err(|error| store_problem("the coordination file cannot be opened", error))?;
    Ok(Some(Arc::new(coordination)))
}

/// The instance that runs now.
pub(crate) fn holder(config: &Config) -> Result<Option<Holder>, Problem> {
    InstanceLock::holder(&config.data_dir).map_err(lock_problem)
}

pub(super) fn lock_problem(error: LockError) -> Problem {
    match error {
        LockError::Held { .. } => Problem::new(
            codes::ALREADY_RUNNING,
            error.to_string(),
            "Stop it first, or give this one another `data_dir`.",
        ),
        error => Problem::new(
            codes::STORE_FAILED,
            "the data directory cannot be used",
            "Make it writable for this user, or set another `data_dir`.",
        )
        .because(error),
    }
}

/// Opens the store alone, or makes it.
pub(crate) async fn store(config: &Config) -> Result<Arc<dyn Store>, Problem> {
    stores(config).await.map(|(store, _)| store)
}

/// Opens the store and the coordination, or makes them.
pub(super) async fn stores(
    config: &Config,
) -> Result<(Arc<dyn Store>, Arc<dyn Coordination>), Problem> {
    if config.store == Some(StoreKind::Memory) {
        return Ok((
            Arc::new(MemoryStore::new()),
            Arc::new(MemoryCoordination::new()),
        ));
    }
    let options = OpenOptions {
        read_only: false,
        create: true,
    };
    let failed = |error| store_problem(CANNOT_OPEN, error);
    let store = SqliteStore::open(config.data_dir.join(STORE), options)
        .await
        .map_err(failed)?;
    let coordination = SqliteCoordination::open(config.data_dir.join(COORDINATION), options)
        .await
        .map_err(failed)?;
    Ok((Arc::new(store), Arc::new(coordination)))
}

/// The store for a check, which leaves no trace.
pub(super) async fn inspected(
    config: &Config,
    is_running: bool,
) -> Result<(Arc<dyn Store>, Option<Scratch>), Problem> {
    if config.store == Some(StoreKind::Memory) {
        return Ok((Arc::new(MemoryStore::new()), None));
    }
    let failed = |error| store_problem(CANNOT_OPEN, error);
    let there = config.data_dir.join(STORE);
    let (path, scratch) = if there.exists() {
        (there, None)
    } else {
        let scratch = Scratch::new().map_err(|error| {
            let store = std::env::temp_dir().display().to_string();
            failed(StoreError::Failed {
                store,
                source: error.into(),
            })
        })?;
        (scratch.0.join(STORE), Some(scratch))
    };
    let options = OpenOptions {
        read_only: is_running && scratch.is_none(),
        create: scratch.is_some(),
    };
    let store = SqliteStore::open(path, options).await.map_err(failed)?;
    Ok((Arc::new(store), scratch))
}

/// A directory that ends with the process.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("projectionist-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind lies where the system clears up.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
