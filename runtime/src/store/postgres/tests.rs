//! What is PostgreSQL's own; what every store promises stands in the conformance suite.
//!
//! `PROJECTIONIST_POSTGRES` names a server on which databases may be made: the test command starts one. Without it there is
//! nothing to test against, and these tests say so.

mod breakage;
mod conforming;
mod frozen;
mod once;

use projectionist::sql::Value;
use sqlx::{Connection as _, PgConnection};

use super::*;
use crate::position::{Bounds, ProjectionId};
use crate::store::{Advance, CommitError, NewCheckpoint};

/// A database of one's own, dropped with it.
struct Database {
    admin: String,
    name: String,
}

impl Database {
    /// None: there is no server.
    async fn new() -> Option<Self> {
        let Ok(admin) = std::env::var("PROJECTIONIST_POSTGRES") else {
            println!("not run: PROJECTIONIST_POSTGRES names no server");
            return None;
        };
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        let mut conn = PgConnection::connect(&admin).await.unwrap();
        // Another language's order than that of bytes, so that whoever relies on it shows.
        let sql = format!("create database {name} template template0 locale 'C.UTF-8'");
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut conn)
            .await
            .unwrap();
        conn.close().await.unwrap();
        Some(Self { admin, name })
    }

    fn url(&self) -> String {
        let (server, _) = self.admin.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    async fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.url(), OpenOptions::default())
            .await
            .unwrap()
    }

    async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (admin, name) = (self.admin.clone(), self.name.clone());
        // A runtime cannot be waited for inside another.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let mut conn = PgConnection::connect(&admin).await.unwrap();
                let sql = format!("drop database {name} with (force)");
                let dropped = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await;
                if let Err(error) = dropped {
                    println!("{name} is left behind: {error}");
                }
            });
        });
        let _ = dropping.join();
    }
}

fn at() -> Timestamp {
    "2026-01-02T03:04:05.678901234Z".parse().unwrap()
}

fn new_checkpoint() -> NewCheckpoint {
    NewCheckpoint {
        projection: ProjectionId {
            tenant: String::new(),
            collection: "a/b/c".to_owned(),
            name: "test".to_owned(),
            generation: 1,
        },
        rid: "rid".to_owned(),
        bounds: Bounds::whole(),
        mode: projectionist::needs::Mode::LatestVersion,
        start: "beginning".to_owned(),
        position: None,
        at: at(),
    }
}

/// A store with the table `t(n)` and one checkpoint that is taken.
struct Fixture {
    store: PostgresStore,
    checkpoint: Checkpoint,
    database: Database,
}

impl Fixture {
    async fn new() -> Option<Self> {
        let database = Database::new().await?;
        let store = database.open().await;
        store
            .define("the test", "create table if not exists t (n bigint)")
            .await
            .unwrap();
        let made = store.create(&new_checkpoint()).await.unwrap();
        let checkpoint = store.take(&made.lease, at()).await.unwrap().unwrap();
        Some(Self {
            store,
            checkpoint,
            database,
        })
    }

    fn advance(&self) -> Advance {
        Advance {
            lease: self.checkpoint.lease.clone(),
            epoch: self.checkpoint.epoch,
            version: self.checkpoint.version,
            position: Position::new("next"),
            at: at(),
        }
    }

    async fn rows(&self) -> Vec<Value> {
        let table = self
            .store
            .query("select n from t order by n")
            .await
            .unwrap();
        table.rows.into_iter().flatten().collect()
    }

    async fn version(&self) -> u64 {
        self.store.checkpoints().await.unwrap()[0].version
    }

    /// Another page works as if nothing had happened.
    async fn sound_page(&self) {
        let before = self.rows().await.len();
        let standing = self.store.checkpoints().await.unwrap().remove(0);
        let mut page = self.store.begin().await.unwrap();
        page.execute("insert into t values ($1)", vec![Value::Integer(9)])
            .await
            .unwrap();
        let advance = Advance {
            epoch: standing.epoch,
            version: standing.version,
            ..self.advance()
        };
        page.commit(&advance).await.unwrap();
        assert_eq!(self.rows().await.len(), before + 1);
    }
}
