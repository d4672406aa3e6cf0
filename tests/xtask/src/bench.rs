//! `cargo xtask bench`: runs the benches and holds their figures against the goals.
//!
//! A bench prints one JSON object a line: `{"name":…,"ratio":…,"goal":…}`. Higher is better, and
//! `ratio >= goal` passes. Other lines are for people.

use std::fmt::Write as _;
use std::io;

use crate::command::{cargo, lines};

const BENCHES: &[&str] = &["dispatch", "apply_memory", "cosmos_pull"];

/// How the figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// One object a line.
    Json,
}

#[derive(Clone, Debug, PartialEq)]
struct Figure {
    name: String,
    ratio: f64,
    goal: f64,
}

/// Runs all benches. Says whether every figure reaches its goal.
pub(crate) fn run(format: Format) -> io::Result<bool> {
    let mut figures = Vec::new();
    for bench in BENCHES {
        let before = figures.len();
        let arguments = [
            "bench",
            "--quiet",
            "-p",
            "projectionist-runtime",
            "--bench",
            bench,
        ];
        let succeeded = lines(&mut cargo(&arguments), |line| match figure(line) {
            Some(figure) => {
                if format == Format::Json {
                    println!("{line}");
                }
                figures.push(figure);
            }
            None => eprintln!("{line}"),
        })?;
        if !succeeded {
            return Err(io::Error::other(format!("bench `{bench}` failed")));
        }
        if figures.len() == before {
            return Err(io::Error::other(format!(
                "bench `{bench}` printed no figure"
            )));
        }
    }
    if format == Format::Table {
        print!("{}", table(&figures));
    }
    Ok(figures.iter().all(Figure::passes))
}

impl Figure {
    fn passes(&self) -> bool {
        self.ratio >= self.goal
    }
}

fn table(figures: &[Figure]) -> String {
    let width = figures
        .iter()
        .map(|figure| figure.name.len())
        .max()
        .unwrap_or(0)
        .max(4);
    let mut text = format!("{:width$}  {:>8}  {:>8}\n", "name", "ratio", "goal");
    for figure in figures {
        let verdict = if figure.passes() {
            ""
        } else {
            "  below its goal"
        };
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "{:width$}  {:>8.3}  {:>8.3}{verdict}",
            figure.name, figure.ratio, figure.goal
        );
    }
    text
}

fn figure(line: &str) -> Option<Figure> {
    let line = line.trim();
    if !line.starts_with('{') || !line.ends_with('}') {
        return None;
    }
    Some(Figure {
        name: field(line, "name")?.to_owned(),
        ratio: field(line, "ratio")?.parse().ok()?,
        goal: field(line, "goal")?.parse().ok()?,
    })
}

/// A field's text in a flat object without escapes, which is all that a bench prints.
fn field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let from = object.find(&format!("\"{name}\""))? + name.len() + 2;
    let value = object[from..].trim_start().strip_prefix(':')?.trim_start();
    match value.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => value.split([',', '}']).next().map(str::trim),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_figures() {
        let read = figure(r#"{"name":"dispatch/1k","ratio":0.91,"goal":0.8}"#);
        let expected = Figure {
            name: "dispatch/1k".into(),
            ratio: 0.91,
            goal: 0.8,
        };
        assert_eq!(read, Some(expected));
        assert!(figure(r#"{ "goal": 1, "ratio": 1.5e0, "name": "x" }"#).is_some());
        assert_eq!(figure("running 3 benches"), None);
        assert_eq!(figure(r#"{"name":"x","ratio":"fast"}"#), None);
    }

    #[test]
    fn the_table_names_what_is_too_slow() {
        let slow = Figure {
            name: "apply".into(),
            ratio: 0.5,
            goal: 0.8,
        };
        assert!(table(&[slow]).ends_with("apply     0.500     0.800  below its goal\n"));
    }
}
