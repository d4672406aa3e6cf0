//! One instance lives on a store at a time: an advisory lock, held by a session of its own.
//!
//! The server lets go of it when the session ends. Nothing but the refusal of a second instance rests on it: an owner whose
//! session was lost is fenced by the epochs that the next one raises (I3).

use jiff::Timestamp;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection};

use super::{APPLICATION, errors};
use crate::coordination::Instance;
use crate::store::StoreError;

/// The lock's number is that of the schema whose tables it stands for.
const TRY: &str =
    "select pg_try_advisory_lock(hashtext('projectionist instance'), hashtext(current_schema()))";

/// Who holds it: the session says so in its name.
const HOLDER: &str = "select a.application_name, a.backend_start::text
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
      and l.classid::bigint = hashtext('projectionist instance')::bigint & 4294967295
      and l.objid::bigint = hashtext(current_schema())::bigint & 4294967295";

/// The right to run on a store, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    _session: PgConnection,
}

/// Who runs on a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// The instance's name.
    pub name: String,
    /// Its process id, on whichever machine.
    pub pid: u32,
    /// When it began.
    pub since: Timestamp,
}

/// What came of asking for it.
#[derive(Debug)]
pub enum Claimed {
    /// It is ours.
    Ours(Claim),
    /// Another instance has it. None: it has just gone, or come.
    Taken(Option<Claimant>),
}

/// The name of a session that holds a claim. The server cuts names off at 63 bytes.
fn session(instance: &Instance) -> String {
    let Instance { name, pid, .. } = instance;
    let name: String = name
        .chars()
        .filter(char::is_ascii_graphic)
        .take(30)
        .collect();
    format!("{APPLICATION}: {pid} {name}")
}

fn claimant(session: &str, since: &str) -> Option<Claimant> {
    let rest = session.strip_prefix(APPLICATION)?.strip_prefix(": ")?;
    let (pid, name) = rest.split_once(' ')?;
    Some(Claimant {
        name: name.to_owned(),
        pid: pid.parse().ok()?,
        // `2026-12-01 12:00:00.5+00`
        since: format!("{}:00", since.replacen(' ', "T", 1)).parse().ok()?,
    })
}

pub(super) async fn claim(
    connect: &PgConnectOptions,
    store: &str,
    instance: &Instance,
) -> Result<Claimed, StoreError> {
    let failed = |error| errors::of_store(store, error);
    let options = connect
        .clone()
        .application_name(&session(instance))
        .disable_statement_logging();
    let mut session = options.connect().await.map_err(failed)?;
    let is_ours: bool = sqlx::query_scalar(TRY)
        .fetch_one(&mut session)
        .await
        .map_err(failed)?;
    if is_ours {
        return Ok(Claimed::Ours(Claim { _session: session }));
    }
    Ok(Claimed::Taken(holder(&mut session).await.map_err(failed)?))
}

pub(super) async fn holder(conn: &mut PgConnection) -> Result<Option<Claimant>, sqlx::Error> {
    sqlx::raw_sql("set timezone = 'UTC'")
        .execute(&mut *conn)
        .await?;
    let found: Option<(String, String)> = sqlx::query_as(HOLDER).fetch_optional(conn).await?;
    Ok(found.and_then(|(session, since)| claimant(&session, &since)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_whose_it_is() {
        let instance = Instance {
            name: "pod-7".to_owned(),
            incarnation: String::new(),
            pid: 42,
            started_at: Timestamp::UNIX_EPOCH,
        };
        let found = claimant(&session(&instance), "2026-12-01 12:00:00.5+00").unwrap();
        assert_eq!((found.name.as_str(), found.pid), ("pod-7", 42));
        assert_eq!(found.since.to_string(), "2026-12-01T12:00:00.5Z");
        assert_eq!(claimant("psql", "2026-12-01 12:00:00+00"), None);
    }
}
