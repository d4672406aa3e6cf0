//! `dead-letters`: changes that failed for good, with what failed on them.

use projectionist::registry::Registry;
use serde_json::{Value, json};

use super::arguments::Letters;
use super::exit::Exit;
use super::output::{note, print, print_json, table};
use crate::config::{Config, unknown_projection};
use crate::letters::{Letter, LetterFilter, NewLetter};
use crate::parts;
use crate::problem::{Problem, Problems, codes};
use crate::store::{Store, StoreError};

/// How many letters one query asks for.
const PAGE: u32 = 500;

pub(crate) async fn letters(
    config: &Config,
    registry: &Registry,
    command: &Letters,
) -> Result<Exit, Problems> {
    let store = parts::look(config).await?;
    match command {
        Letters::List { projection, format } => {
            if let Some(name) = projection
                && !registry.iter().any(|def| def.spec.name == name)
            {
                return Err(unknown_projection(name, "flag --projection", registry).into());
            }
            let letters = match &store {
                Some(store) => all(&**store, projection.clone()).await?,
                None => Vec::new(),
            };
            list(&letters, format.json)?;
            Ok(if letters.is_empty() {
                Exit::Ok
            } else {
                Exit::Letters
            })
        }
        Letters::Show { id, format } => {
            let letter = match &store {
                Some(store) => store.letter(*id).await.map_err(failed)?,
                None => None,
            };
            let letter = letter.ok_or_else(|| {
                Problem::new(
                    codes::UNKNOWN_LETTER,
                    format!("there is no dead letter {id}"),
                    "`dead-letters list` shows those that there are.",
                )
            })?;
            show(&letter, format.json)?;
            Ok(Exit::Ok)
        }
    }
}

fn failed(error: StoreError) -> Problem {
    parts::store_problem("the dead letters cannot be read", error)
}

async fn all(store: &dyn Store, projection: Option<String>) -> Result<Vec<Letter>, Problem> {
    let mut filter = LetterFilter {
        projection,
        limit: PAGE,
        ..LetterFilter::default()
    };
    let mut letters = Vec::new();
    loop {
        let page = store.letters(&filter).await.map_err(failed)?;
        let Some(last) = page.last() else {
            return Ok(letters);
        };
        filter.after = last.id;
        letters.extend(page);
    }
}

fn list(letters: &[Letter], as_json: bool) -> Result<(), Problem> {
    if as_json {
        let all: Vec<Value> = letters.iter().map(describe).collect();
        return print_json(&all);
    }
    if letters.is_empty() {
        note("no dead letters\n");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = letters
        .iter()
        .map(|letter| {
            let content = &letter.content;
            vec![
                letter.id.to_string(),
                content.projection.name.clone(),
                document(content),
                content.partition_key.clone(),
                content.failed_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                content.errors.last().cloned().unwrap_or_default(),
            ]
        })
        .collect();
    let titles = [
        "ID",
        "PROJECTION",
        "DOCUMENT",
        "KEY",
        "FAILED (UTC)",
        "ERROR",
    ];
    print(&table(&titles, &rows))
}

fn show(letter: &Letter, as_json: bool) -> Result<(), Problem> {
    let description = describe(letter);
    if as_json {
        let mut description = description;
        description["body"] = body(letter);
        return print_json([&description]);
    }
    let mut rows = Vec::new();
    for (name, value) in description.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::String(text) => rows.push(vec![name.clone(), text.clone()]),
            Value::Array(errors) => rows.extend(
                errors
                    .iter()
                    .map(|error| vec![name.clone(), error.as_str().unwrap_or_default().to_owned()]),
            ),
            other => rows.push(vec![name.clone(), other.to_string()]),
        }
    }
    let body = match body(letter) {
        Value::String(text) => text,
        value => format!("{value:#}"),
    };
    print(&format!("{}\n{body}\n", table(&["FIELD", "VALUE"], &rows)))
}

/// The document as JSON, or as text where it is none.
fn body(letter: &Letter) -> Value {
    match &letter.content.body {
        None => Value::Null,
        Some(bytes) => serde_json::from_slice(bytes)
            .unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned().into()),
    }
}

/// The document's id; of a change that could not be read it is not known.
fn document(content: &NewLetter) -> String {
    if content.document_id.is_empty() {
        "?".to_owned()
    } else {
        content.document_id.clone()
    }
}

fn describe(letter: &Letter) -> Value {
    let content = &letter.content;
    json!({
        "id": letter.id,
        "status": letter.status.as_str(),
        "projection": content.projection.name,
        "collection": content.projection.collection,
        "range": content.bounds.to_string(),
        "document": content.document_id,
        "partition_key": content.partition_key,
        "operation": content.operation.as_str(),
        "sequence": content.sequence,
        "etag": content.etag,
        "idempotency_key": content.key,
        "hook": content.hook,
        "errors": content.errors,
        "attempts": content.attempts,
        "written_at": content.written_at.to_string(),
        "failed_at": content.failed_at.to_string(),
        "last_failed_at": letter.last_failed_at.to_string(),
        "build": content.build,
    })
}
