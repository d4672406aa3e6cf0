//! `check`: everything that can be checked without reading a change.

use std::collections::BTreeSet;
use std::sync::Arc;

use projectionist::registry::{ProjectionDef, Registry};
use serde_json::{Value, json};

use super::arguments;
use super::exit::Exit;
use super::output::{note, print, print_json, report};
use crate::builder::Projector;
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::prepare::start_text;
use crate::parts::{self, Parts};
use crate::problem::{Problem, Problems, codes};

pub(crate) async fn check(
    projector: Projector,
    config: Config,
    registry: &Registry,
    arguments: &arguments::Check,
) -> Result<Exit, Problems> {
    let defs: Vec<_> = registry.iter().collect();
    let difference = difference(&defs, &arguments.expect);
    let checked = checked(projector, config, &defs).await;
    let as_json = arguments.format.json;
    if as_json {
        let problems: Vec<Value> = difference
            .iter()
            .chain(checked.as_ref().err().into_iter().flat_map(|all| &all.0))
            .map(|problem| {
                json!({ "code": problem.code, "message": problem.message, "help": problem.help })
            })
            .collect();
        let (projections, notices) = checked.as_ref().map_or_else(
            |_| (Vec::new(), Vec::new()),
            |checked| (checked.projections.clone(), checked.notices.clone()),
        );
        print_json([&json!({
            "ok": problems.is_empty(),
            "projections": projections,
            "notices": notices,
            "problems": problems,
        })])?;
    }
    if let Some(difference) = difference {
        report(&Problems(vec![difference]));
        if let Err(problems) = &checked {
            report(problems);
        }
        return Ok(Exit::Difference);
    }
    let checked = checked?;
    for notice in &checked.notices {
        note(&format!("note: {notice}\n"));
    }
    if !as_json {
        print(&format!("ok: {} projections\n", defs.len()))?;
    }
    Ok(Exit::Ok)
}

struct Checked {
    projections: Vec<Value>,
    notices: Vec<String>,
}

async fn checked(
    projector: Projector,
    config: Config,
    defs: &[&'static ProjectionDef],
) -> Result<Checked, Problems> {
    parts::demands(&config, defs)?;
    let config = Arc::new(config);
    let states = projector.states(Arc::clone(&config)).await?;
    let (parts, holder) = Parts::inspect(&config, defs).await?;
    let setup = parts.setup(&config, defs, states)?;
    let mut notices = Engine::check(&setup, holder.is_none()).await?;
    if let Some(holder) = holder {
        notices.push(format!(
            "instance `{}` (process {}) is running, so checkpoints were not compared with the collections",
            holder.name, holder.pid
        ));
    }
    let projections = setup
        .projections
        .iter()
        .map(|prepared| {
            json!({
                "name": prepared.def.spec.name,
                "collection": prepared.def.spec.collection,
                "mode": prepared.def.mode.as_str(),
                "start": start_text(prepared.start),
                "start_origin": prepared.start_origin,
                "batch": prepared.batch,
            })
        })
        .collect();
    Ok(Checked {
        projections,
        notices,
    })
}

/// What is linked in and not expected, or the other way round.
fn difference(defs: &[&ProjectionDef], expected: &[String]) -> Option<Problem> {
    if expected.is_empty() {
        return None;
    }
    let found: BTreeSet<&str> = defs.iter().map(|def| def.spec.name).collect();
    let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
    let list = |names: Vec<&&str>| {
        names
            .into_iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let missing = list(expected.difference(&found).collect());
    let surplus = list(found.difference(&expected).collect());
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("expected and not linked in: {missing}"));
    }
    if !surplus.is_empty() {
        parts.push(format!("linked in and not expected: {surplus}"));
    }
    (!parts.is_empty()).then(|| {
        Problem::new(
            codes::EXPECTATION_FAILED,
            parts.join("; "),
            "Name the crates that declare what is missing in `main!` or `link!`; or correct `--expect`.",
        )
    })
}
