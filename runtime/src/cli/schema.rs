//! `schema`: the tables of row projections, printed, compared and made.

use projectionist::registry::{ProjectionDef, Registry};
use projectionist::row::Table;

use super::arguments::{Database, Schema};
use super::exit::Exit;
use super::output::{note, print};
use crate::config::Config;
use crate::parts;
use crate::problem::{Problem, Problems, codes};
use crate::store::{Store, StoreError};
use crate::table::{Dialect, Found, apply, inspect, script};

pub(crate) async fn schema(
    config: &Config,
    registry: &Registry,
    command: &Schema,
) -> Result<Exit, Problems> {
    match command {
        Schema::Print { database } => Ok(show(registry, *database)?),
        Schema::Check => Ok(check(config, registry).await?),
        Schema::Apply => Ok(make(config, registry).await?),
    }
}

/// The row projections.
fn tables(registry: &Registry) -> impl Iterator<Item = (&'static ProjectionDef, &'static Table)> {
    registry
        .iter()
        .filter_map(|def| Some((def, def.spec.table.as_ref()?)))
}

fn show(registry: &Registry, database: Option<Database>) -> Result<Exit, Problem> {
    let dialect = match database {
        Some(Database::Postgres) => Dialect::Postgres,
        Some(Database::Sqlite) | None => Dialect::Sqlite,
    };
    for (def, table) in tables(registry) {
        print(&format!(
            "-- projection {}\n{}",
            def.spec.name,
            script(table, dialect)
        ))?;
    }
    Ok(Exit::Ok)
}

async fn check(config: &Config, registry: &Registry) -> Result<Exit, Problem> {
    let store = parts::look(config).await?;
    let mut differs = false;
    for (def, table) in tables(registry) {
        let found = match &store {
            Some(store) => of(&**store, def, table).await?,
            None => Found::new_tables(table),
        };
        differs |= tell(def, &found)?;
    }
    Ok(if differs { Exit::Difference } else { Exit::Ok })
}

async fn make(config: &Config, registry: &Registry) -> Result<Exit, Problem> {
    let store = parts::store(config).await?;
    let mut is_blocked = false;
    for (def, table) in tables(registry) {
        let found = of(&*store, def, table).await?;
        tell(def, &found)?;
        if found.obstacles.is_empty() {
            let applied = apply(&*store, def.spec.name, &found).await;
            applied.map_err(failed)?;
        }
        is_blocked |= !found.obstacles.is_empty();
    }
    store.close().await;
    if is_blocked {
        return Err(Problem::new(
            codes::TABLE_MISMATCH,
            "some tables are not as declared and cannot be changed under their rows",
            "Give such a projection a new `name` and its rows a new `table`: they are built anew beside the old, which you drop when nobody reads it.",
        ));
    }
    Ok(Exit::Ok)
}

async fn of(store: &dyn Store, def: &ProjectionDef, table: &Table) -> Result<Found, Problem> {
    let dialect = Dialect::of(store.database()).ok_or_else(|| {
        Problem::new(
            codes::WRONG_DATABASE,
            format!("the store in {} has no tables", store.database()),
            "Set `store = \"sqlite\"`.",
        )
    })?;
    let found = inspect(store, def.spec.name, table, dialect).await;
    found.map_err(failed)
}

fn failed(error: StoreError) -> Problem {
    parts::store_problem("the tables cannot be compared", error)
}

/// Prints what was found. Whether anything differs.
fn tell(def: &ProjectionDef, found: &Found) -> Result<bool, Problem> {
    for (table, fingerprint) in &found.fingerprints {
        print(&format!("{table} {fingerprint}\n"))?;
    }
    for step in &found.steps {
        note(&format!("projection {}: {step}\n", def.spec.name));
    }
    for obstacle in &found.obstacles {
        note(&format!("projection {}: {obstacle}\n", def.spec.name));
    }
    Ok(!found.steps.is_empty() || !found.obstacles.is_empty())
}
