//! Writes the demonstration and shows what became of it.

use std::path::{Path, PathBuf};

use projectionist::sql::Value as Cell;

use super::output::{print, table};
use super::progress::Progress;
use crate::demo::{Demo, DemoWrite};
use crate::engine::Running;
use crate::parts::Parts;
use crate::problem::{Problem, Problems, codes};
use crate::store::Store;

/// How many documents are written before the projections are waited for.
const GROUP: usize = 100;

/// The file that stands in the data directory while the demonstration is not complete.
const MARKER: &str = "demo.unfinished";

/// A demonstration about to be written.
#[derive(Debug)]
pub(crate) struct Seed {
    writes: Vec<DemoWrite>,
    /// Stands while not all is written.
    marker: PathBuf,
    pub(crate) tables: Vec<(String, String)>,
}

impl Seed {
    pub(crate) fn of(demo: Demo, data_dir: &Path) -> Self {
        let Demo { writes, tables } = demo;
        Self {
            writes: writes(),
            marker: data_dir.join(MARKER),
            tables,
        }
    }

    /// Whether an earlier run was ended before it had written all of it.
    pub(crate) fn is_unfinished(data_dir: &Path) -> bool {
        data_dir.join(MARKER).exists()
    }

    /// Writes all documents, in groups; with `running`, each group is projected before the next.
    pub(crate) async fn write(
        self,
        parts: &Parts,
        running: Option<&Running>,
    ) -> Result<(), Problem> {
        let what = if running.is_some() {
            "writing and projecting the demonstration"
        } else {
            "writing the demonstration"
        };
        let marked = |error: std::io::Error| {
            Problem::new(
                codes::DEMO_FAILED,
                format!("{} cannot be written or removed", self.marker.display()),
                "Make the data directory writable for this user, or set another `data_dir`.",
            )
            .because(error)
        };
        std::fs::write(&self.marker, "").map_err(marked)?;
        let mut progress = Progress::new(what, self.writes.len() as u64);
        for group in self.writes.chunks(GROUP) {
            for same in group.chunk_by(|a, b| collection(a) == collection(b)) {
                parts.write(collection(&same[0]), same).map_err(|error| {
                    Problem::new(
                        codes::DEMO_FAILED,
                        "the demonstration could not be written",
                        "The program's demonstration must fit its collections. Correct it in the program.",
                    )
                    .because(error)
                })?;
            }
            if let Some(running) = running {
                running.caught_up().await;
            }
            progress.add(group.len());
        }
        progress.end();
        std::fs::remove_file(&self.marker).map_err(marked)
    }
}

fn collection(write: &DemoWrite) -> &str {
    match write {
        DemoWrite::Upsert { collection, .. } | DemoWrite::Delete { collection, .. } => collection,
    }
}

/// Prints the demonstration's queries.
pub(crate) async fn show(store: &dyn Store, tables: &[(String, String)]) -> Result<(), Problems> {
    for (title, query) in tables {
        let result = store.query(query).await.map_err(|error| {
            Problem::new(
                codes::DEMO_FAILED,
                format!("the read model cannot be shown: `{query}` failed"),
                "The demonstration's queries must fit the tables of its projections.",
            )
            .because(error)
        })?;
        let titles: Vec<&str> = result.columns.iter().map(String::as_str).collect();
        let rows: Vec<Vec<String>> = result
            .rows
            .iter()
            .map(|row| row.iter().map(cell).collect())
            .collect();
        print(&format!("\n{title}\n\n{}", table(&titles, &rows)))?;
    }
    if !tables.is_empty() {
        print("\n")?;
    }
    Ok(())
}

fn cell(value: &Cell) -> String {
    match value {
        Cell::Bool(flag) => flag.to_string(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Blob(bytes) => format!("({} bytes)", bytes.len()),
        Cell::Decimal(number) => number.to_string(),
        _ => "–".to_owned(),
    }
}
