//! Data on stdout, prose on stderr.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde_json::Value;

use crate::apply::chain;
use crate::problem::{Problem, Problems, codes};

/// Writes data to stdout. A reader that went away is no failure: it has what it wanted.
pub(crate) fn print(data: &str) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(data.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::new(
            codes::RUNTIME_FAILED,
            "stdout cannot be written to",
            "Look at what stdout is connected to: a full disk, or a pipe that fails.",
        )
        .because(error)),
        _ => Ok(()),
    }
}

/// Writes values as JSON, one a line.
pub(crate) fn print_json<'v>(values: impl IntoIterator<Item = &'v Value>) -> Result<(), Problem> {
    let lines = values.into_iter().map(|value| format!("{value}\n"));
    print(&lines.collect::<String>())
}

/// Writes all problems to stderr.
pub(crate) fn report(problems: &Problems) {
    let mut text = String::new();
    for problem in &problems.0 {
        text.push_str(&describe(problem));
    }
    if problems.0.len() > 1 {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} problems", problems.0.len());
    }
    note(&text);
}

/// Writes prose to stderr, which may be closed.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A problem as people read it.
fn describe(problem: &Problem) -> String {
    let mut text = format!("error[{}]: {}\n", problem.code, problem.message);
    let causes = problem
        .source
        .as_deref()
        .map(|source| chain(source))
        .unwrap_or_default();
    let mut said = String::new();
    for cause in causes {
        // Many errors repeat their source in their own text.
        if said.contains(&cause) {
            continue;
        }
        let _ = writeln!(text, "  caused by: {}", cause.replace('\n', "\n    "));
        said = cause;
    }
    let _ = writeln!(text, "  help: {}", problem.help);
    text
}

/// Columns under their titles, aligned.
pub(crate) fn table<S: AsRef<str>>(titles: &[&str], rows: &[Vec<S>]) -> String {
    let cell = |row: &Vec<S>, column: usize| row.get(column).map_or(0, |c| width(c.as_ref()));
    let widths: Vec<usize> = titles
        .iter()
        .enumerate()
        .map(|(column, title)| {
            let cells = rows.iter().map(|row| cell(row, column));
            cells.chain([width(title)]).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (cell, column) in cells.zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(column.saturating_sub(width(cell)) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    };
    line(&mut titles.iter().copied());
    for row in rows {
        line(&mut row.iter().map(AsRef::as_ref));
    }
    text
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_with_its_causes_and_the_way_out() {
        let cause = io::Error::other("disk full");
        let problem = Problem::new("store-failed", "the store failed", "Make room.").because(cause);
        assert_eq!(
            describe(&problem),
            "error[store-failed]: the store failed\n  caused by: disk full\n  help: Make room.\n"
        );
    }

    #[test]
    fn columns_are_aligned_and_lines_end_clean() {
        assert_eq!(
            table(&["name", "mode"], &[vec!["überlang", "x"], vec!["a", ""]]),
            "name      mode\nüberlang  x\na\n"
        );
    }
}
