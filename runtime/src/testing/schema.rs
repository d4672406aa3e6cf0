//! A schema of PostgreSQL that ends with its test.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, raw_sql};

/// A schema, dropped with this.
pub(super) struct Schema {
    url: String,
    name: String,
}

impl Schema {
    /// Makes one in the database at `url`.
    pub(super) async fn new(url: &str) -> Result<Self, sqlx::Error> {
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        let mut conn = PgConnection::connect(url).await?;
        raw_sql(AssertSqlSafe(format!("create schema {name}")))
            .execute(&mut conn)
            .await?;
        conn.close().await?;
        Ok(Self {
            url: url.to_owned(),
            name,
        })
    }

    /// The database's URL, with this schema before all others.
    pub(super) fn url(&self) -> String {
        let Self { url, name } = self;
        let mark = if url.contains('?') { '&' } else { '?' };
        format!("{url}{mark}options=-csearch_path%3D{name}")
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (url, name) = (self.url.clone(), self.name.clone());
        // A test's runtime cannot be waited for inside itself.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(sqlx::Error::Io)?;
            runtime.block_on(async {
                let mut conn = PgConnection::connect(&url).await?;
                let sql = format!("drop schema if exists {name} cascade");
                raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await
            })
        });
        if let Ok(Err(error)) = dropping.join() {
            tracing::warn!("a test's schema is left behind: {error}");
        }
    }
}
