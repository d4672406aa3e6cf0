//! The page's transaction in hooks: lent anew for each change, and rows as Rust types.

use std::any::Any;

use projectionist::extract::tx::{BoxFuture, Transaction};
use projectionist::page::StopReason;
use projectionist::prelude::*;
use projectionist::sql::{Row, Value};
use projectionist::{Extract, ExtractError, HookCx};
use serde::Deserialize;

use crate::support::{self, Log};

/// Remembers statements, and answers queries about plans.
#[derive(Debug, Default)]
struct Script {
    executed: Vec<Vec<Value>>,
}

impl Transaction for Script {
    fn database(&self) -> &'static str {
        "script"
    }

    fn execute<'t>(
        &'t mut self,
        _: &'t str,
        params: Vec<Value>,
    ) -> BoxFuture<'t, Result<u64, TxError>> {
        self.executed.push(params);
        Box::pin(std::future::ready(Ok(1)))
    }

    fn fetch<'t>(
        &'t mut self,
        sql: &'t str,
        params: Vec<Value>,
        limit: usize,
    ) -> BoxFuture<'t, Result<Vec<Row>, TxError>> {
        let row = vec![Value::Text("pro".into()), Value::Integer(1200)];
        let rows: Vec<Row> = match (sql, &params[..]) {
            ("cents", [Value::Text(plan)]) if plan == "pro" => vec![vec![Value::Integer(1200)]],
            ("cents", _) => Vec::new(),
            _ => vec![row; 3],
        };
        let rows = rows.into_iter().take(limit).collect();
        Box::pin(std::future::ready(Ok(rows)))
    }

    fn native(&mut self) -> &mut (dyn Any + Send) {
        self
    }
}

#[derive(Debug, Deserialize)]
struct User {
    id: String,
    plan: String,
}

/// A user's own argument.
struct Tenant(String);

impl Extract<'_> for Tenant {
    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        let key = PartitionKey::extract(cx)?;
        key.parse()
            .map(Self)
            .map_err(|error| ExtractError::Other(error.into()))
    }
}

#[projection(collection = "users", name = "charges", register = false)]
struct Charges;

impl Charges {
    #[on_upsert]
    async fn charge(
        &self,
        Change(user): Change<User>,
        Tenant(tenant): Tenant,
        mut tx: Tx<'_>,
    ) -> Result<Verdict, TxError> {
        let cents = tx.fetch_optional::<i64>("cents", (&user.plan,)).await?;
        let Some(cents) = cents else {
            return Ok(Verdict::Skip);
        };
        tx.execute("insert", (&user.id, tenant, cents)).await?;
        Ok(Verdict::Done)
    }
}

#[tokio::test]
async fn the_transaction_is_lent_anew_for_each_change() {
    let mut script = Script::default();
    let ran = support::run_in::<Charges>(
        Some(&mut script),
        &[
            support::upsert("ada", r#"{"id":"ada","plan":"pro"}"#),
            support::upsert("bob", r#"{"id":"bob","plan":"free"}"#),
            support::upsert("cho", r#"{"id":"cho","plan":"pro"}"#),
        ],
    )
    .await;
    assert_eq!(ran.page.applied, 3);
    let row = |id: &str| {
        vec![
            Value::Text(id.into()),
            Value::Text("t1".into()),
            Value::Integer(1200),
        ]
    };
    assert_eq!(script.executed, [row("ada"), row("cho")]);
}

#[projection(collection = "users", name = "reads", register = false)]
struct Reads;

impl Reads {
    #[on_upsert]
    async fn read(mut tx: Tx<'_>, log: State<Log>) -> Result<(), TxError> {
        let all: Vec<(String, i64)> = tx.fetch_all("plans", ()).await?;
        log.add(format!("{}", all.len()));
        let none = tx.fetch_one::<i64>("cents", ("free",)).await;
        log.add(none.expect_err("there is no such plan").to_string());
        let several = tx.fetch_optional::<(String, i64)>("plans", ()).await;
        log.add(several.expect_err("there are three plans").to_string());
        tx.fetch_one::<(String, bool)>("plans", ()).await.map(drop)
    }
}

#[tokio::test]
async fn the_number_of_rows_is_checked() {
    let mut script = Script::default();
    let changes = [support::upsert("ada", "{}")];
    let ran = support::run_in::<Reads>(Some(&mut script), &changes).await;
    assert_eq!(
        ran.log,
        [
            "3",
            "no row where one was expected",
            "several rows where one was expected"
        ]
    );
    let stopped = ran.page.stopped.expect("the last query fails the hook");
    assert!(matches!(stopped.reason, StopReason::Error(_)));
    assert_eq!(stopped.hook, "read");
}

#[tokio::test]
async fn a_missing_transaction_stops_the_page() {
    let ran =
        support::run::<Charges>(&[support::upsert("ada", r#"{"id":"ada","plan":"pro"}"#)]).await;
    let Some(StopReason::Error(error)) = ran.page.stopped.map(|stopped| stopped.reason) else {
        panic!("it must stop");
    };
    assert_eq!(error.to_string(), "the change carries no transaction");
}
