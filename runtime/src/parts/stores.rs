//! The stores of the data directory: to run on, to look at, to check without a trace.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{Config, Postgres, StoreKind};
use crate::coordination::memory::MemoryCoordination;
use crate::coordination::postgres::PostgresCoordination;
use crate::coordination::sqlite::SqliteCoordination;
use crate::coordination::{Coordination, Instance};
use crate::problem::{Problem, codes};
use crate::store::memory::MemoryStore;
use crate::store::postgres::{
    Claim, Claimant, Claimed, OpenOptions as PostgresOptions, PostgresStore, Tables,
};
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

/// P8: the server is patient for so much longer than a hook may take, so that none is cut off by it.
const BEYOND: Duration = Duration::from_secs(15);

/// The store in PostgreSQL, if the settings say so.
async fn postgres(config: &Config, tables: Tables) -> Result<Option<PostgresStore>, Problem> {
    let (Some(StoreKind::Postgres), Some(url)) = (config.store, &config.postgres.url) else {
        return Ok(None);
    };
    let options = PostgresOptions {
        connections: config.postgres.connections,
        patience: config.limits.hook + BEYOND,
        tables,
    };
    PostgresStore::open(url.reveal(), options)
        .await
        .map(Some)
        .map_err(|error| store_problem(CANNOT_OPEN, error))
}

/// The same, to look only, where its tables are there.
async fn postgres_there(config: &Config) -> Result<Option<PostgresStore>, Problem> {
    let Some(store) = postgres(config, Tables::Leave).await? else {
        return Ok(None);
    };
    let is_there = store.is_there().await;
    let is_there = is_there.map_err(|error| store_problem(CANNOT_OPEN, error))?;
    Ok(is_there.then_some(store))
}

/// The store, to look only. None: there is none yet.
pub(crate) async fn look(config: &Config) -> Result<Option<Arc<dyn Store>>, Problem> {
    if config.store == Some(StoreKind::Postgres) {
        let store = postgres_there(config).await?;
        return Ok(store.map(|store| Arc::new(store) as _));
    }
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
    if config.store == Some(StoreKind::Postgres) {
        let store = postgres_there(config).await?;
        return Ok(store.map(|store| Arc::new(PostgresCoordination::look(store)) as _));
    }
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
pub(crate) async fn holder(config: &Config) -> Result<Option<Holder>, Problem> {
    let Some(store) = postgres_there(config).await? else {
        return InstanceLock::holder(&config.data_dir).map_err(lock_problem);
    };
    let claimant = store.claimant().await;
    let claimant = claimant.map_err(|error| store_problem(CANNOT_OPEN, error))?;
    Ok(claimant.map(|Claimant { name, pid, since }| Holder {
        name,
        pid,
        started_at: since,
    }))
}

/// Claims the store in PostgreSQL for this instance.
async fn claim(store: &PostgresStore, instance: &Instance) -> Result<Claim, Problem> {
    let claimed = store.claim(instance).await;
    match claimed.map_err(|error| store_problem(CANNOT_OPEN, error))? {
        Claimed::Ours(claim) => Ok(claim),
        Claimed::Taken(holder) => {
            let who = holder.map_or_else(
                || "another instance".to_owned(),
                |Claimant { name, pid, since }| {
                    format!("the instance `{name}` (process {pid}, connected at {since})")
                },
            );
            Err(Problem::new(
                codes::ALREADY_RUNNING,
                format!("{who} already runs on the store in {store:?}"),
                "Stop it first. If its machine is gone, the server lets go of it when its connection times out.",
            ))
        }
    }
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
    if let Some(store) = postgres(config, Tables::Make).await? {
        return Ok(Arc::new(store));
    }
    files(config).await.map(|opened| opened.store)
}

/// A store and its coordination, opened to run on.
pub(super) struct Opened {
    pub(super) store: Arc<dyn Store>,
    pub(super) coordination: Arc<dyn Coordination>,
    /// The right to run on it, where that is not the data directory's lock.
    pub(super) claim: Option<Claim>,
}

/// Opens the store and the coordination, or makes them, and claims what others could run on too.
pub(super) async fn stores(config: &Config, instance: &Instance) -> Result<Opened, Problem> {
    let Some(store) = postgres(config, Tables::Make).await? else {
        return files(config).await;
    };
    let claim = claim(&store, instance).await?;
    // Heartbeats have sessions of their own: pages may have all of the store's.
    let beats = Config {
        postgres: Postgres {
            connections: 2,
            ..config.postgres.clone()
        },
        ..config.clone()
    };
    let beats = postgres(&beats, Tables::Make).await?;
    let beats = beats.expect("the settings are the same");
    let coordination = PostgresCoordination::open(beats)
        .await
        .map_err(|error| store_problem(CANNOT_OPEN, error))?;
    Ok(Opened {
        store: Arc::new(store),
        coordination: Arc::new(coordination),
        claim: Some(claim),
    })
}

/// The stores that are not shared.
async fn files(config: &Config) -> Result<Opened, Problem> {
    if config.store == Some(StoreKind::Memory) {
        return Ok(Opened {
            store: Arc::new(MemoryStore::new()),
            coordination: Arc::new(MemoryCoordination::new()),
            claim: None,
        });
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
    Ok(Opened {
        store: Arc::new(store),
        coordination: Arc::new(coordination),
        claim: None,
    })
}

/// The store for a check, which leaves no trace.
pub(super) async fn inspected(
    config: &Config,
    is_running: bool,
) -> Result<(Arc<dyn Store>, Option<Scratch>), Problem> {
    if config.store == Some(StoreKind::Memory) {
        return Ok((Arc::new(MemoryStore::new()), None));
    }
    if let Some(store) = postgres(config, Tables::Leave).await? {
        return Ok((Arc::new(store), None));
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
