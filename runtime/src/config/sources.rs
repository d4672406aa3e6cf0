//! What was written, where: the settings file, the environment, the flags.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Origin;
use super::key::normal;
use crate::problem::{Problem, codes};

/// The settings file's name.
pub(crate) const FILE: &str = "projector.toml";
const PREFIX: &str = "PROJECTOR_";
const CONFIG: &str = "PROJECTOR_CONFIG";

/// From where settings are read. Everything is passed in, so that a test needs neither the
/// environment nor the working directory.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file that was asked for, and by whom.
    pub file: Option<(PathBuf, Origin)>,
    /// The variables.
    pub env: Vec<(String, String)>,
    /// Settings given as flags: name, value, flag.
    pub flags: Vec<(&'static str, String, &'static str)>,
}

/// One value as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) name: Vec<String>,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

impl Sources {
    /// The process's environment, and the file that it, the flag or the place names.
    ///
    /// The file is `--config`, else `PROJECTOR_CONFIG`, else `projector.toml` in the working
    /// directory, else, under `cargo run`, the one beside the program's Cargo.toml.
    pub fn of_process(config: Option<PathBuf>) -> Self {
        let env: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.to_uppercase().starts_with(PREFIX))
            .collect();
        let named = env.iter().find(|(name, _)| name == CONFIG);
        let file = match (config, named) {
            (Some(path), _) => Some((path, Origin::Flag("--config"))),
            (None, Some((_, path))) => Some((path.into(), Origin::Env(CONFIG.to_owned()))),
            (None, None) => {
                let here = PathBuf::from(FILE);
                let beside = std::env::var_os("CARGO_MANIFEST_DIR")
                    .map(|folder| Path::new(&folder).join(FILE));
                [Some(here), beside]
                    .into_iter()
                    .flatten()
                    .find(|path| path.is_file())
                    .map(|path| (path, Origin::Default))
            }
        };
        Self {
            file,
            env,
            flags: Vec::new(),
        }
    }

    /// Adds a flag's value, where the flag was given.
    #[must_use]
    pub fn flag(
        mut self,
        name: &'static str,
        value: Option<impl Into<String>>,
        flag: &'static str,
    ) -> Self {
        if let Some(value) = value {
            self.flags.push((name, value.into(), flag));
        }
        self
    }

    /// The settings file's values.
    pub(super) fn file(&self, problems: &mut Vec<Problem>) -> Vec<Entry> {
        let Some((path, origin)) = &self.file else {
            return Vec::new();
        };
        match std::fs::read_to_string(path) {
            Ok(text) => parse(path, &text, problems),
            Err(error) => {
                problems.push(
                    Problem::new(
                        codes::BAD_CONFIG_FILE,
                        format!("the settings file {} cannot be read ({origin})", path.display()),
                        "Name a file that exists, or leave it out: then `projector.toml` in the working directory counts, if there is one.",
                    )
                    .because(error),
                );
                Vec::new()
            }
        }
    }

    /// The environment's values, by name.
    pub(super) fn environment(&self) -> Vec<Entry> {
        let mut entries: Vec<_> = self
            .env
            .iter()
            .filter(|(name, _)| name != CONFIG)
            .filter_map(|(name, value)| {
                // `get` in place of a slice: a name need not be ASCII.
                let rest = name.get(PREFIX.len()..)?;
                Some(Entry {
                    name: rest.split("__").map(normal).collect(),
                    value: Value::from(value.as_str()),
                    origin: Origin::Env(name.clone()),
                })
            })
            .collect();
        entries.sort_by(|a, b| a.origin.cmp(&b.origin));
        entries
    }

    pub(super) fn given(&self) -> impl Iterator<Item = Entry> {
        self.flags.iter().map(|(name, value, flag)| Entry {
            name: vec![(*name).to_owned()],
            value: Value::from(value.as_str()),
            origin: Origin::Flag(flag),
        })
    }
}

/// The values of a settings file; what is wrong with its syntax goes to `problems`.
fn parse(path: &Path, text: &str, problems: &mut Vec<Problem>) -> Vec<Entry> {
    let line = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        problems.push(Problem::new(
            codes::BAD_CONFIG_FILE,
            format!("{}:{}: {}", path.display(), line(at), error.message()),
            "The settings file is TOML; see https://toml.io.",
        ));
    }
    let mut entries = Vec::new();
    walk(table.get_ref(), &mut Vec::new(), &mut |name, value| {
        entries.push(Entry {
            name: name.to_vec(),
            value: json(value.get_ref()),
            origin: Origin::File {
                path: path.to_owned(),
                line: line(value.span().start),
            },
        });
    });
    entries
}

fn walk<'t, 'i>(
    table: &'t DeTable<'i>,
    name: &mut Vec<String>,
    found: &mut dyn FnMut(&[String], &'t Spanned<DeValue<'i>>),
) {
    for (key, value) in table {
        // The names of accounts, collections and projections are the user's, to the letter.
        let is_free = name.len() == 1
            && matches!(name[0].as_str(), "accounts" | "collections" | "projections");
        let key = key.get_ref();
        name.push(if is_free {
            key.to_string()
        } else {
            normal(key)
        });
        match value.get_ref() {
            DeValue::Table(table) if !table.is_empty() => walk(table, name, found),
            _ => found(name, value),
        }
        name.pop();
    }
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::from(number.to_string()), Value::from),
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map_or_else(|_| Value::from(number.as_str()), Value::from),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}
