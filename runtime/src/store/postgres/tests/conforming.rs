//! The PostgreSQL store under the conformance suite, with counters through the portable and the native transaction.

use std::sync::atomic::{AtomicUsize, Ordering};

use projectionist::verdict::BoxError;

use super::*;
use crate::store::conformance::{self, Subject};

struct Counters {
    /// Used in turn: as many processes on one database.
    stores: Vec<PostgresStore>,
    turn: AtomicUsize,
    native: bool,
    _database: Database,
}

impl Counters {
    async fn subject(processes: usize, native: bool) -> Result<Arc<dyn Subject>, BoxError> {
        let database = Database::new().await.ok_or("there is no server")?;
        let mut stores = Vec::new();
        for _ in 0..processes {
            stores.push(database.open().await);
        }
        stores[0]
            .define(
                "the suite",
                "create table counters (name text primary key, n bigint not null)",
            )
            .await?;
        Ok(Arc::new(Self {
            stores,
            turn: AtomicUsize::new(0),
            native,
            _database: database,
        }))
    }
}

/// Pages of several leases run beside each other, and what one reads to write it anew, another must not write between.
const LOCK: &str = "select pg_advisory_xact_lock(hashtext($1))";
const READ: &str = "select coalesce((select n from counters where name = $1), 0)";
const WRITE: &str = "insert into counters (name, n) values ($1, $2)
    on conflict (name) do update set n = excluded.n";

impl Subject for Counters {
    fn store(&self) -> &dyn Store {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        &self.stores[turn % self.stores.len()]
    }

    fn add<'t>(
        &'t self,
        effects: &'t mut (dyn Effects + 'static),
        counter: &'t str,
        by: i64,
    ) -> BoxFuture<'t, Result<(), BoxError>> {
        Box::pin(async move {
            if self.native {
                let conn: &mut PgConnection = effects
                    .native()
                    .downcast_mut()
                    .ok_or("another connection")?;
                sqlx::query(LOCK).bind(counter).execute(&mut *conn).await?;
                let n: i64 = sqlx::query_scalar(READ)
                    .bind(counter)
                    .fetch_one(&mut *conn)
                    .await?;
                sqlx::query(WRITE)
                    .bind(counter)
                    .bind(n + by)
                    .execute(&mut *conn)
                    .await?;
                return Ok(());
            }
            let name = Value::Text(counter.to_owned());
            effects.fetch(LOCK, vec![name.clone()], 1).await?;
            let rows = effects.fetch(READ, vec![name.clone()], 1).await?;
            let Value::Integer(n) = rows[0][0] else {
                return Err("the counter is no number".into());
            };
            effects
                .execute(WRITE, vec![name, Value::Integer(n + by)])
                .await?;
            Ok(())
        })
    }

    fn counter<'t>(&'t self, counter: &'t str) -> BoxFuture<'t, Result<i64, BoxError>> {
        Box::pin(async move {
            let counter = counter.replace('\'', "''");
            let sql =
                format!("select coalesce((select n from counters where name = '{counter}'), 0)");
            match self.store().query(&sql).await?.rows[0][0] {
                Value::Integer(n) => Ok(n),
                _ => Err("the counter is no number".into()),
            }
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_postgres_store_conforms() {
    if Database::new().await.is_none() {
        return;
    }
    let report = conformance::run(|| Counters::subject(1, false)).await;
    println!("the store on PostgreSQL: {report}");
    assert!(report.failed.is_empty(), "{report}");
    assert_eq!(report.passed.len(), conformance::count());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_postgres_store_conforms_with_native_hooks() {
    if Database::new().await.is_none() {
        return;
    }
    let report = conformance::run(|| Counters::subject(1, true)).await;
    println!("the store on PostgreSQL, native: {report}");
    assert!(report.failed.is_empty(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_postgres_store_conforms_with_several_instances_of_one_database() {
    if Database::new().await.is_none() {
        return;
    }
    let report = conformance::run(|| Counters::subject(3, false)).await;
    println!("the store on PostgreSQL, three instances: {report}");
    assert!(report.failed.is_empty(), "{report}");
}
