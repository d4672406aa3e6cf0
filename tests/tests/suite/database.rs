//! Databases of PostgreSQL for processes under test.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, raw_sql};

static MADE: AtomicU32 = AtomicU32::new(0);

/// A database, dropped with this.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    /// A new one. None: the test command has started no server, and the test says so.
    pub(crate) async fn new() -> Option<Self> {
        let Ok(server) = std::env::var("PROJECTIONIST_POSTGRES") else {
            println!("not run on PostgreSQL: PROJECTIONIST_POSTGRES names no server");
            return None;
        };
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("suite_{}_{number}", std::process::id());
        // One that an earlier process of this number has left behind.
        let drop = format!("drop database if exists {name} with (force)");
        run(&server, &drop).await.unwrap();
        let create = format!("create database {name}");
        run(&server, &create).await.unwrap();
        Some(Self { server, name })
    }

    pub(crate) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    /// The settings that put the store there.
    pub(crate) fn settings(&self) -> String {
        format!("[postgres]\nurl = \"{}\"\n", self.url())
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }
}

async fn run(url: &str, sql: &str) -> Result<(), sqlx::Error> {
    let mut conn = PgConnection::connect(url).await?;
    raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await?;
    conn.close().await
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // A test's runtime cannot be waited for inside itself.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            let drop = format!("drop database {name} with (force)");
            if let Err(error) = runtime.block_on(run(&server, &drop)) {
                println!("{name} is left behind: {error}");
            }
        });
        let _ = dropping.join();
    }
}
