//! Everything that happens before the first change is read.

use std::sync::Arc;

use projectionist::hook::Hooks;
use projectionist::needs::{Kind, Mode, Needs};
use projectionist::projection::{DynProjection, Start};
use projectionist::registry::ProjectionDef;
use projectionist::row::Table;

use super::checkpoints::{complete, standing};
use super::{Prepared, Running, SchemaPolicy, Setup, Until};
use crate::apply::Runner;
use crate::clock::Jitter;
use crate::config::Origin;
use crate::feed::{From, Read};
use crate::position::{EMULATOR, ProjectionId};
use crate::problem::causes::{feed_problem, store_problem};
use crate::problem::{Problem, Problems, codes};
use crate::store::Checkpoint;
use crate::table::{Dialect, TablePlan, apply, inspect};

/// The engine, before it is prepared.
#[derive(Debug)]
pub struct Engine;

/// Prepared projections: every start position is stored, nothing was read yet.
#[derive(Debug)]
pub struct Ready {
    pub(super) setup: Setup,
    pub(crate) runners: Vec<(Arc<Runner>, Vec<Checkpoint>)>,
    notices: Vec<String>,
}

impl Engine {
    /// Checks what [`prepare`](Self::prepare) would, as far as that changes nothing: DDL is rolled back, no
    /// checkpoint is made, no change is read. With `compare` it also checks that the checkpoints that there
    /// are belong to these feeds. Returns notices.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub async fn check(setup: &Setup, compare: bool) -> Result<Vec<String>, Problems> {
        let mut problems = Vec::new();
        let mut notices = Vec::new();
        for prepared in &setup.projections {
            check(prepared, setup, &mut problems);
            if let Err(problem) = build(prepared, setup) {
                problems.push(problem);
            }
            if compare && let Err(problem) = rehearse(prepared, setup).await {
                problems.push(problem);
            }
            if compare
                && let Some(table) = &prepared.def.spec.table
                && let Err(problem) = tables(table, prepared, setup, Act::Check).await
            {
                problems.push(problem);
            }
            if compare && let Err(problem) = compared(prepared, setup, &mut notices).await {
                problems.push(problem);
            }
        }
        if problems.is_empty() {
            Ok(notices)
        } else {
            Err(Problems(problems))
        }
    }

    /// Checks the declarations alone against feeds, store and states.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn verify(setup: &Setup) -> Result<(), Problems> {
        let mut problems = Vec::new();
        for prepared in &setup.projections {
            check(prepared, setup, &mut problems);
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Problems(problems))
        }
    }

    /// Checks and builds every projection, runs its DDL, and makes its checkpoints.
    ///
    /// # Errors
    ///
    /// All problems at once. No change was read then.
    pub async fn prepare(setup: Setup) -> Result<Ready, Problems> {
        // What is wrong with one declaration is no reason to touch the store for another.
        Self::verify(&setup)?;
        let mut problems = Vec::new();
        let jitter = Arc::new(Jitter::new(setup.seed));
        let mut runners = Vec::with_capacity(setup.projections.len());
        let mut notices = Vec::new();
        for prepared in &setup.projections {
            match ready(prepared, &setup, &jitter, &mut notices).await {
                Ok(runner) => runners.push(runner),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() {
            Ok(Ready {
                setup,
                runners,
                notices,
            })
        } else {
            Err(Problems(problems))
        }
    }
}

impl Ready {
    /// What a person should know and need not act on, such as a start option that a checkpoint
    /// overrules.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The checkpoints, by projection and range.
    pub fn checkpoints(&self) -> impl Iterator<Item = &Checkpoint> {
        self.runners.iter().flat_map(|(_, checkpoints)| checkpoints)
    }

    /// Sets the pumps going. Must be called inside a tokio runtime.
    pub fn start(self, until: Until) -> Running {
        Running::start(self, until)
    }
}

/// Checks a declaration against feed, store and states.
fn check(prepared: &Prepared, setup: &Setup, problems: &mut Vec<Problem>) {
    let Prepared { def, feed, .. } = prepared;
    let name = def.spec.name;
    for (hook, key) in def.states() {
        if !setup.states.has(key) {
            problems.push(Problem::new(
                codes::MISSING_STATE,
                format!(
                    "`{name}::{hook}` needs `State<{}>`, which the program does not give ({})",
                    key.name(),
                    def.location
                ),
                "Add it in the program: `.setup(async |app| { app.state(…); Ok(()) })`.",
            ));
        }
    }
    let database = setup.store.database();
    for (_, hook) in def.hooks.iter() {
        for wanted in hook.databases.iter().flatten() {
            if *wanted != database {
                problems.push(Problem::new(
                    codes::WRONG_DATABASE,
                    format!("`{name}::{}` takes the transaction of {wanted}, but the store is {database} ({})", hook.name, def.location),
                    format!("Take the portable `Tx<'_>`, or set `store = \"{wanted}\"`."),
                ));
            }
        }
    }
    let mut natives = def
        .hooks
        .iter()
        .flat_map(|(_, hook)| hook.databases.iter().flatten());
    let wants_sql =
        def.hooks.needs().contains(Needs::TX) || def.spec.ddl.is_some() || def.spec.table.is_some();
    // Who asks for a database by its name was told of that above.
    if wants_sql && natives.next().is_none() && !setup.store.has_sql() {
        problems.push(Problem::new(
            codes::WRONG_DATABASE,
            format!(
                "projection `{name}` takes a `Tx`, has DDL or a table, but the store in {database} has no SQL ({})",
                def.location
            ),
            "Set `store = \"sqlite\"`.",
        ));
    }
    if def.mode == Mode::AllVersionsAndDeletes {
        let why = reason(def);
        if prepared.start != Start::Now {
            problems.push(Problem::new(
                codes::START_NOT_POSSIBLE,
                format!(
                    "projection `{name}` cannot start at {} ({}): {why} needs the all-versions feed, which has no beginning ({})",
                    start_text(prepared.start), prepared.start_origin, def.location
                ),
                "Use `start = now`. To see what is older, let it run in latest-version mode, with `soft_delete(…)` for deletes. (Backfill, which gives both, is not there yet.)",
            ));
        }
        if feed.retention().is_none_or(|window| window.is_zero()) {
            problems.push(no_retention(def, &feed.source().account));
        }
    }
}

/// An all-versions projection over a collection without history, which would deliver nothing, silently.
pub(crate) fn no_retention(def: &ProjectionDef, account: &str) -> Problem {
    let help = if account == EMULATOR {
        format!(
            "Give the collection one: `retention = \"7d\"` under `[collections.{}]`. Without it that feed delivers nothing at all.",
            def.spec.collection
        )
    } else {
        format!(
            "Turn on continuous backup and the change feed mode `All versions and deletes` in account `{account}`. Or let the projection read latest versions, with `soft_delete(…)` for deletes."
        )
    };
    Problem::new(
        codes::NO_RETENTION,
        format!(
            "projection `{}` needs the all-versions feed ({}), but collection `{}` has no retention window ({})",
            def.spec.name,
            reason(def),
            def.spec.collection,
            def.location
        ),
        help,
    )
}

/// What forces all-versions mode, for people.
pub(super) fn reason(def: &ProjectionDef) -> String {
    let Hooks { on_delete, .. } = def.hooks;
    for (kind, hook) in def.hooks.iter() {
        let forces = matches!(kind, Kind::Create | Kind::Replace | Kind::Expire)
            || kind == Kind::Delete && on_delete.is_some() && def.spec.soft_delete.is_none();
        if forces {
            return format!("`#[{kind}]` on `{}`", hook.name);
        }
        if hook.needs.contains(Needs::PREVIOUS) {
            return format!("`Previous<…>` in `{}`", hook.name);
        }
    }
    if def.spec.table.is_some() && def.spec.soft_delete.is_none() {
        return "`#[on_delete(…)]` on its rows".to_owned();
    }
    format!("`mode = {}`", def.mode.as_str())
}

/// A start option as settings write it.
pub(crate) fn start_text(start: Start) -> String {
    match start {
        Start::Now => "now".to_owned(),
        Start::Beginning => "beginning".to_owned(),
        Start::At(seconds) => jiff::Timestamp::from_second(seconds)
            .map_or_else(|_| seconds.to_string(), |time| time.to_string()),
        _ => format!("{start:?}"),
    }
}

/// Makes the projection itself.
fn build(prepared: &Prepared, setup: &Setup) -> Result<Box<dyn DynProjection>, Problem> {
    let def = prepared.def;
    def.build(&setup.states).map_err(|error| {
        Problem::new(
            codes::INIT_FAILED,
            format!(
                "projection `{}` could not be made: its `init` failed ({})",
                def.spec.name, def.location
            ),
            "Mend it and start again; nothing was read.",
        )
        .because(error)
    })
}

fn id(prepared: &Prepared) -> ProjectionId {
    ProjectionId {
        tenant: String::new(),
        collection: prepared.feed.source().path(),
        name: prepared.def.spec.name.to_owned(),
        generation: 1,
    }
}

/// The DDL for this store, and whose it is.
fn ddl(prepared: &Prepared, setup: &Setup) -> Option<(String, &'static str)> {
    let spec = prepared.def.spec;
    let ddl = match (setup.store.database(), spec.ddl?) {
        ("sqlite", ddl) => ddl.sqlite,
        ("postgres", ddl) => ddl.postgres,
        _ => None,
    };
    Some((format!("projection `{}`", spec.name), ddl?))
}

/// The statements of its table.
fn plan(prepared: &Prepared, setup: &Setup) -> Option<TablePlan> {
    let table = prepared.def.spec.table.as_ref()?;
    let dialect = Dialect::of(setup.store.database())?;
    Some(TablePlan::new(table, dialect))
}

/// What is done about tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Compared only.
    Check,
    /// Made, where the policy says so.
    Prepare,
}

/// Makes or compares the tables of rows, as the settings say.
async fn tables(
    table: &Table,
    prepared: &Prepared,
    setup: &Setup,
    act: Act,
) -> Result<(), Problem> {
    let name = prepared.def.spec.name;
    let Some(dialect) = Dialect::of(setup.store.database()) else {
        return Ok(());
    };
    if setup.schema == SchemaPolicy::Off {
        return Ok(());
    }
    let failed = |error| store_problem(name, error);
    let found = inspect(&*setup.store, name, table, dialect)
        .await
        .map_err(failed)?;
    let mismatch = |what: &[String], help: &str| {
        Problem::new(
            codes::TABLE_MISMATCH,
            format!(
                "the tables of projection `{name}` are not as declared: {} ({})",
                what.join("; "),
                prepared.def.location
            ),
            help,
        )
    };
    if !found.obstacles.is_empty() {
        return Err(mismatch(
            &found.obstacles,
            "Give the projection a new `name` and its rows a new `table`: they are built anew beside the old, which you drop when nobody reads it. A table that you keep yourself is left alone with `schema = \"off\"`.",
        ));
    }
    match (setup.schema, act) {
        (SchemaPolicy::Check, Act::Prepare) if !found.steps.is_empty() => Err(mismatch(
            &found.steps,
            "Run `schema apply`, or set `schema = \"apply\"`.",
        )),
        (SchemaPolicy::Apply, Act::Prepare) => {
            for step in &found.steps {
                tracing::info!(projection = name, "{step}");
            }
            apply(&*setup.store, name, &found).await.map_err(failed)
        }
        _ => Ok(()),
    }
}

/// Rows that mirror a collection by its all-versions feed do not see what was written before: that is for somebody to
/// decide, where there is anything.
async fn beginning(prepared: &Prepared) -> Result<(), Problem> {
    let Prepared { def, feed, .. } = prepared;
    let is_unasked = prepared.start_origin == Origin::Default.to_string();
    if def.mode != Mode::AllVersionsAndDeletes || !is_unasked {
        return Ok(());
    }
    let name = def.spec.name;
    let failed = |error| feed_problem(name, error);
    for range in feed.ranges().await.map_err(failed)? {
        let read = Read {
            bounds: &range.bounds,
            mode: Mode::LatestVersion,
            from: From::Beginning,
            max_items: 1,
        };
        let page = feed.read(read).await.map_err(failed)?;
        if !page.changes.is_empty() || page.unreadable.is_some() {
            return Err(Problem::new(
                codes::START_NOT_POSSIBLE,
                format!(
                    "projection `{name}` mirrors collection `{}`, which holds documents already, and {} needs the all-versions feed, which shows only what is written from now on ({})",
                    def.spec.collection,
                    reason(def),
                    def.location
                ),
                "Write `start = now` if rows of documents that are never written again may be missing. Or read latest versions, which have a beginning: with `soft_delete(…)` for deletes. (Backfill, which gives both, is not there yet.)",
            ));
        }
    }
    Ok(())
}

/// Compares the checkpoints that there are with the feed; where there are none, whether it can begin.
async fn compared(
    prepared: &Prepared,
    setup: &Setup,
    notices: &mut Vec<String>,
) -> Result<(), Problem> {
    let standing = standing(prepared, setup, &id(prepared), notices).await?;
    if standing.is_empty() && prepared.def.spec.table.is_some() {
        beginning(prepared).await?;
    }
    Ok(())
}

/// Tries the DDL and takes it back.
async fn rehearse(prepared: &Prepared, setup: &Setup) -> Result<(), Problem> {
    let Some((of, ddl)) = ddl(prepared, setup) else {
        return Ok(());
    };
    let tried = setup.store.rehearse(&of, ddl).await;
    tried.map_err(|error| store_problem(prepared.def.spec.name, error))
}

async fn ready(
    prepared: &Prepared,
    setup: &Setup,
    jitter: &Arc<Jitter>,
    notices: &mut Vec<String>,
) -> Result<(Arc<Runner>, Vec<Checkpoint>), Problem> {
    let Prepared { def, feed, .. } = prepared;
    let name = def.spec.name;
    let projection = build(prepared, setup)?;
    let id = id(prepared);
    let standing = standing(prepared, setup, &id, notices).await?;
    if let Some((of, ddl)) = ddl(prepared, setup) {
        setup
            .store
            .define(&of, ddl)
            .await
            .map_err(|error| store_problem(name, error))?;
    }
    if let Some(table) = &def.spec.table {
        tables(table, prepared, setup, Act::Prepare).await?;
        if standing.is_empty() {
            beginning(prepared).await?;
        }
    }
    let checkpoints = complete(standing, prepared, setup, &id).await?;
    let runner = Runner {
        id,
        def,
        projection,
        states: setup.states.clone(),
        store: Arc::clone(&setup.store),
        feed: Arc::clone(feed),
        clock: Arc::clone(&setup.clock),
        jitter: Arc::clone(jitter),
        limits: setup.limits,
        batch: prepared.batch,
        table: plan(prepared, setup),
    };
    Ok((Arc::new(runner), checkpoints))
}
