//! `list`: the projections that are linked in. Needs no settings, and runs nothing of the program's.

use projectionist::registry::{ProjectionDef, Registry};
use serde_json::{Value, json};

use super::exit::Exit;
use super::output::{print, print_json, table};
use crate::engine::prepare::start_text;
use crate::problem::Problems;

pub(crate) fn list(registry: &Registry, as_json: bool) -> Result<Exit, Problems> {
    if as_json {
        let all: Vec<Value> = registry.iter().map(describe).collect();
        print_json(&all)?;
        return Ok(Exit::Ok);
    }
    let rows: Vec<Vec<String>> = registry
        .iter()
        .map(|def| {
            vec![
                def.spec.name.to_owned(),
                def.spec.collection.to_owned(),
                def.mode.to_string(),
                start_of(def),
                hooks(def).join(" "),
                def.location.to_string(),
            ]
        })
        .collect();
    let titles = [
        "NAME",
        "COLLECTION",
        "MODE",
        "START",
        "HOOKS",
        "DECLARED AT",
    ];
    print(&table(&titles, &rows))?;
    Ok(Exit::Ok)
}

/// Where it begins without a checkpoint, as far as the declaration says.
fn start_of(def: &ProjectionDef) -> String {
    start_text(def.start())
}

/// `on_upsert:charge`, in a fixed order.
fn hooks(def: &ProjectionDef) -> Vec<String> {
    def.hook_names()
        .map(|(kind, method)| format!("{kind}:{method}"))
        .collect()
}

fn describe(def: &'static ProjectionDef) -> Value {
    let hooks: Vec<Value> = def
        .hook_names()
        .map(|(kind, method)| json!({ "kind": kind.as_str(), "method": method }))
        .collect();
    json!({
        "name": def.spec.name,
        "collection": def.spec.collection,
        "mode": def.mode.as_str(),
        "start": start_of(def),
        "hooks": hooks,
        "file": def.location.file,
        "line": def.location.line,
    })
}
