//! The program's own settings, `[app.NAME]`.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Config, Origin};
use crate::problem::{Problem, codes};

impl Config {
    /// The table `[app.NAME]`, as the program's own type.
    ///
    /// What comes from the environment is text; it is read as a number, `true` or `false` where it
    /// looks like one.
    ///
    /// # Errors
    ///
    /// If the table does not fit the type. A missing table is an empty one.
    pub fn user<T: DeserializeOwned>(&self, name: &str) -> Result<T, Problem> {
        let prefix = format!("app.{name}.");
        let mut table = Map::new();
        let mut origins = Vec::new();
        for setting in &self.settings {
            let (Some(rest), Some(value)) = (setting.name.strip_prefix(&prefix), &setting.value)
            else {
                continue;
            };
            let is_text = matches!(setting.origin, Origin::Env(_));
            let value = match value {
                Value::String(text) if is_text => scalar(text),
                value => value.clone(),
            };
            insert(&mut table, rest, value);
            origins.push(format!("`{}` ({})", setting.name, setting.origin));
        }
        let found = if origins.is_empty() {
            "nothing is set there".to_owned()
        } else {
            format!("found {}", origins.join(", "))
        };
        serde_json::from_value(Value::Object(table)).map_err(|error| {
            Problem::new(
                codes::BAD_SETTING,
                format!("the program's settings `[app.{name}]` do not fit: {error}"),
                format!(
                    "Set them in the settings file or as `PROJECTOR_APP__{}__…`; {found}.",
                    name.to_uppercase()
                ),
            )
        })
    }
}

/// A text as a number, `true` or `false`, where it looks like one.
pub(super) fn scalar(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_))) => value,
        _ => Value::from(text),
    }
}

fn insert(table: &mut Map<String, Value>, name: &str, value: Value) {
    let Some((first, rest)) = name.split_once('.') else {
        table.insert(name.to_owned(), value);
        return;
    };
    let inner = table
        .entry(first)
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        insert(inner, rest, value);
    }
}
