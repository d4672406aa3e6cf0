//! Projections that write down what they are told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use projectionist::hook::Hooks;
use projectionist::page::{Outcome, Page};
use projectionist::prelude::*;
use projectionist::projection::Spec;
use projectionist::registry::Location;
use projectionist_runtime::store::Store;
use serde_json::Value;

/// What a hook was told of one change.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) operation: Operation,
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) current: Option<Value>,
    pub(crate) previous: Option<Value>,
    pub(crate) delete: Option<DeleteKind>,
    pub(crate) range: String,
    pub(crate) sequence: u64,
}

/// Where hooks write it down, and how they are made to fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    told: Arc<Mutex<Vec<Told>>>,
    pub(crate) fails: Arc<AtomicBool>,
    /// The store whose leases the next call of a hook takes, as another owner would.
    pub(crate) thief: Arc<Mutex<Option<Arc<dyn Store>>>>,
    /// The sizes of the pages that [`Counting`] was called with.
    pub(crate) pages: Arc<Mutex<Vec<usize>>>,
}

async fn steal(store: &dyn Store) {
    for checkpoint in store.checkpoints().await.unwrap() {
        let taken = store.take(&checkpoint.lease, checkpoint.changed_at).await;
        assert!(taken.unwrap().is_some());
    }
}

impl Log {
    fn push(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }

    /// What was written down since the last call.
    pub(crate) fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

fn told(operation: Operation, id: &DocumentId, key: &PartitionKey, at: Ctx<'_>) -> Told {
    Told {
        operation,
        id: id.as_str().to_owned(),
        key: key.json().to_owned(),
        current: None,
        previous: None,
        delete: at.delete_kind(),
        range: at.range_id().to_owned(),
        sequence: at.sequence().unwrap(),
    }
}

/// All versions.
#[projection(collection = "things", name = "every", register = false)]
pub(crate) struct Every;

impl Every {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn log(
        operation: Operation,
        id: DocumentId,
        key: PartitionKey,
        now: Option<Change<Value>>,
        before: Option<Previous<Value>>,
        at: Ctx<'_>,
        log: State<Log>,
    ) -> Result<(), &'static str> {
        log.push(Told {
            current: now.map(|Change(now)| now),
            previous: before.and_then(|Previous(before)| before),
            ..told(operation, &id, &key, at)
        });
        let thief = log.thief.lock().unwrap().take();
        if let Some(store) = thief {
            steal(&*store).await;
        }
        if log.fails.load(Ordering::SeqCst) {
            return Err("told to fail");
        }
        Ok(())
    }
}

/// The same under another name.
#[projection(collection = "things", name = "other", start = beginning, register = false)]
pub(crate) struct Other;

/// The latest versions.
#[projection(collection = "things", name = "latest", start = beginning, register = false)]
pub(crate) struct Latest;

/// The latest versions, under the name of [`Every`].
#[projection(collection = "things", name = "every", start = beginning, register = false)]
pub(crate) struct Switched;

macro_rules! latest {
    ($($type:ident),*) => {
        $(impl $type {
            #[on_upsert]
            async fn log(
                operation: Operation,
                id: DocumentId,
                key: PartitionKey,
                now: Change<Value>,
                at: Ctx<'_>,
                log: State<Log>,
            ) -> Result<(), &'static str> {
                log.push(Told { current: Some(now.0), ..told(operation, &id, &key, at) });
                if log.fails.load(Ordering::SeqCst) {
                    return Err("told to fail");
                }
                Ok(())
            }
        })*
    };
}

latest!(Other, Latest, Switched);

/// The latest versions, with a mark for deletes.
#[projection(
    collection = "things",
    name = "soft",
    soft_delete(deleted),
    start = beginning,
    register = false
)]
pub(crate) struct Soft;

impl Soft {
    #[on_upsert]
    #[on_delete]
    async fn log(
        operation: Operation,
        id: DocumentId,
        key: PartitionKey,
        at: Ctx<'_>,
        log: State<Log>,
    ) {
        log.push(told(operation, &id, &key, at));
    }
}

/// Rows through the transaction; the document `c` is the one that fails.
#[projection(
    collection = "things",
    name = "ledger",
    start = beginning,
    ddl(sqlite = "create table if not exists ledger (id text primary key, times integer not null)"),
    register = false
)]
pub(crate) struct Ledger;

impl Ledger {
    #[on_upsert]
    async fn enter(
        operation: Operation,
        id: DocumentId,
        key: PartitionKey,
        at: Ctx<'_>,
        log: State<Log>,
        mut tx: Tx<'_>,
    ) -> Result<(), BoxError> {
        log.push(told(operation, &id, &key, at));
        tx.execute(
            "insert into ledger (id, times) values ($1, 1)
             on conflict (id) do update set times = times + 1",
            (id.as_str(),),
        )
        .await?;
        if id.as_str() == "c" && log.fails.load(Ordering::SeqCst) {
            return Err("told to fail".into());
        }
        Ok(())
    }
}

/// Written by hand, to see the pages themselves.
pub(crate) struct Counting(Arc<Log>);

impl Projection for Counting {
    const SPEC: Spec = Spec {
        name: "counting",
        ..Latest::SPEC
    };
    const HOOKS: Hooks = Latest::HOOKS;
    const MODE: Mode = Latest::MODE;

    fn build(states: &States) -> Result<Self, BoxError> {
        Ok(Self(states.get::<Log>().ok_or("no log")?))
    }

    fn apply_page<'a>(this: Option<&'a Self>, mut page: Page<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let mut size = 0;
            while page.advance().is_some() {
                size += 1;
                if page.settle(Ok(Verdict::Done)).is_break() {
                    break;
                }
            }
            let Self(log) = this.expect("it was built");
            log.pages.lock().unwrap().push(size);
            page.finish()
        })
    }
}

/// The definition of a projection, which lives as long as the program.
pub(crate) fn def<P: Projection>() -> &'static ProjectionDef {
    let location = Location {
        file: "semantics.rs",
        line: 1,
    };
    Box::leak(Box::new(ProjectionDef::of::<P>(location)))
}
