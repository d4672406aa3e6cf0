//! `config show`: every value, and who says so. Secrets are masked.

use serde_json::{Value, json};

use super::exit::Exit;
use super::output::{note, print, print_json, table};
use crate::config::{Config, Setting};
use crate::problem::Problems;

pub(crate) fn show(config: &Config, as_json: bool) -> Result<Exit, Problems> {
    if as_json {
        let all: Vec<Value> = config
            .settings
            .iter()
            .map(|setting| {
                json!({
                    "name": setting.name,
                    "value": setting.shown(),
                    "origin": setting.origin.to_string(),
                })
            })
            .collect();
        print_json(&all)?;
        return Ok(Exit::Ok);
    }
    if config.file.is_none() {
        note(
            "no settings file: there is no projector.toml here, and neither --config nor PROJECTOR_CONFIG names one\n",
        );
    }
    let rows: Vec<Vec<String>> = config
        .settings
        .iter()
        .map(|setting| {
            vec![
                setting.name.clone(),
                text(setting),
                setting.origin.to_string(),
            ]
        })
        .collect();
    print(&table(&["SETTING", "VALUE", "ORIGIN"], &rows))?;
    Ok(Exit::Ok)
}

fn text(setting: &Setting) -> String {
    match setting.shown() {
        Value::Null => "(not set)".to_owned(),
        Value::String(text) => text,
        value => value.to_string(),
    }
}
