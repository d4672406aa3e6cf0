//! The memory store under the conformance suite, and what is its own.

use projectionist::verdict::BoxError;

use super::*;
use crate::store::conformance::{self, Subject};

struct Counters(MemoryStore);

fn add(effects: &mut (dyn Effects + 'static), counter: &str, by: i64) {
    let tx: &mut MemoryTx = effects.native().downcast_mut().unwrap();
    let old = match tx.get(counter) {
        Some(Value::Integer(old)) => old,
        _ => 0,
    };
    tx.set(counter, Value::Integer(old + by));
}

impl Subject for Counters {
    fn store(&self) -> &dyn Store {
        &self.0
    }

    fn add<'t>(
        &'t self,
        effects: &'t mut (dyn Effects + 'static),
        counter: &'t str,
        by: i64,
    ) -> BoxFuture<'t, Result<(), BoxError>> {
        Box::pin(async move {
            // As a real store would, it gives others a turn in the middle.
            tokio::task::yield_now().await;
            add(effects, counter, by);
            tokio::task::yield_now().await;
            Ok(())
        })
    }

    fn counter<'t>(&'t self, counter: &'t str) -> BoxFuture<'t, Result<i64, BoxError>> {
        Box::pin(async move {
            Ok(match self.0.value(counter) {
                Some(Value::Integer(value)) => value,
                _ => 0,
            })
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_memory_store_conforms() {
    let make = async || Ok(Arc::new(Counters(MemoryStore::new())) as Arc<dyn Subject>);
    let report = conformance::run(make).await;
    println!("the memory store: {report}");
    assert!(report.failed.is_empty(), "{report}");
    assert_eq!(report.passed.len(), conformance::count());
}

#[tokio::test]
async fn sql_is_refused_and_the_way_out_is_named() {
    let store = MemoryStore::new();
    let mut effects = store.begin().await.unwrap();
    let error = effects.execute("select 1", vec![]).await.unwrap_err();
    assert_eq!(error.class(), TxErrorClass::Statement);
    assert!(error.to_string().contains("store = \"sqlite\""), "{error}");
    assert!(effects.fetch("select 1", vec![], 1).await.is_err());
    assert!(store.query("select 1").await.is_err());
    assert!(matches!(
        store.define("the test", "create table t (n)").await,
        Err(StoreError::Define { .. })
    ));
}
