//! `dev`: writes to the local collections, through the process that owns them if there is one.

use std::io::Read as _;
use std::path::Path;

use projectionist_emulator::Write;
use serde_json::{Value, json};

use super::arguments::Dev;
use super::exit::Exit;
use super::output::{print, print_json};
use super::progress::Progress;
use super::serve::serve;
use crate::config::{Config, FeedKind};
use crate::local::{Access, Local, described, loose_key, setup};
use crate::parts::not_local;
use crate::problem::{Problem, Problems, codes};

/// How many documents go into one frame of the journal.
const GROUP: usize = 200;

pub(crate) async fn dev(config: &Config, command: Dev) -> Result<Exit, Problems> {
    let writes = !matches!(command, Dev::Serve(_));
    if writes && config.feed == Some(FeedKind::Cosmos) {
        return Err(not_local("`dev`").into());
    }
    match command {
        Dev::Serve(arguments) => serve(config, &arguments).await,
        Dev::Load {
            collection,
            file,
            format,
        } => {
            described(config, &collection)?;
            let lines = read(&file)?;
            rehearse(config, &collection, &file, &lines)?;
            let access = Access::open_to_write(config, "dev load").await?;
            let mut progress = Progress::new("loading", lines.len() as u64);
            for group in lines.chunks(GROUP) {
                let writes = group.iter().map(Line::upsert).collect();
                access.write(&collection, writes).await?;
                progress.add(group.len());
            }
            progress.end();
            done(format.json, "loaded", lines.len(), &collection)
        }
        Dev::Put {
            collection,
            document,
            format,
        } => {
            described(config, &collection)?;
            let text = match document {
                Some(text) if text != "-" => text,
                _ => stdin()?,
            };
            let line = Line { number: 1, text };
            line.check()
                .map_err(|error| bad("the document", "", &error))?;
            let access = Access::open_to_write(config, "dev put").await?;
            access.write(&collection, vec![line.upsert()]).await?;
            done(format.json, "put", 1, &collection)
        }
        Dev::Delete {
            collection,
            id,
            key,
            format,
        } => {
            described(config, &collection)?;
            let partition_key = loose_key(&key)?;
            let access = Access::open_to_write(config, "dev delete").await?;
            access
                .write(&collection, vec![Write::Delete { id, partition_key }])
                .await?;
            done(format.json, "deleted", 1, &collection)
        }
    }
}

fn done(as_json: bool, what: &str, count: usize, collection: &str) -> Result<Exit, Problems> {
    if as_json {
        print_json([&json!({ what: count, "collection": collection })])?;
    } else {
        let s = if count == 1 { "" } else { "s" };
        print(&format!("{what} {count} document{s} in {collection}\n"))?;
    }
    Ok(Exit::Ok)
}

/// A line of a file that is a document.
#[derive(Debug)]
struct Line {
    number: usize,
    text: String,
}

impl Line {
    fn check(&self) -> Result<(), String> {
        match serde_json::from_str::<Value>(&self.text) {
            Ok(Value::Object(_)) => Ok(()),
            Ok(_) => Err("it is no JSON object".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn upsert(&self) -> Write {
        Write::Upsert(self.text.clone().into())
    }
}

fn bad(what: &str, place: &str, error: &str) -> Problem {
    Problem::new(
        codes::BAD_DOCUMENT,
        format!("{what}{place} cannot be written: {error}"),
        "Correct it; nothing was written.",
    )
}

fn unreadable(what: &str, error: std::io::Error) -> Problem {
    Problem::new(
        codes::BAD_INPUT,
        format!("{what} cannot be read"),
        "Name a readable UTF-8 text with one JSON object a line.",
    )
    .because(error)
}

fn stdin() -> Result<String, Problem> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| unreadable("stdin", error))?;
    Ok(text)
}

/// The documents of a file. All lines that are no JSON objects are named at once.
fn read(file: &Path) -> Result<Vec<Line>, Problems> {
    const SHOWN: usize = 10;
    let text = std::fs::read_to_string(file)
        .map_err(|error| unreadable(&file.display().to_string(), error))?;
    let lines: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| Line {
            number: index + 1,
            text: line.to_owned(),
        })
        .collect();
    let problems: Vec<_> = lines
        .iter()
        .filter_map(|line| line.check().err().map(|error| refused(file, line, &error)))
        .take(SHOWN)
        .collect();
    if problems.is_empty() {
        Ok(lines)
    } else {
        Err(Problems(problems))
    }
}

fn refused(file: &Path, line: &Line, error: &str) -> Problem {
    // The parser counts lines inside the one it got.
    let error = error.replace(" at line 1 column ", " at column ");
    bad(
        &file.display().to_string(),
        &format!(":{}", line.number),
        &error,
    )
}

/// Writes everything to a collection in memory first, so that a document that would be refused is
/// found before one is written.
fn rehearse(config: &Config, collection: &str, file: &Path, lines: &[Line]) -> Result<(), Problem> {
    let local = Local::in_memory();
    local.create(collection, setup(described(config, collection)?))?;
    for group in lines.chunks(GROUP) {
        local
            .write(collection, group.iter().map(Line::upsert).collect())
            .map_err(|error| match error.index() {
                Some(index) => refused(file, &group[index], &error.problem().message),
                None => error.problem(),
            })?;
    }
    Ok(())
}
