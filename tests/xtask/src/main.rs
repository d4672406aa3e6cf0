//! The chores of the project: `cargo xtask test`, `cargo xtask bench`, `cargo xtask book`.
//!
//! No dependencies, so that the first build of a fresh clone starts with the project itself. What is
//! checked before a merge stands in `.ci/run`, not here.

mod bench;
mod book;
mod command;
mod interop;
mod postgres;
mod step;
mod test;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [PART]     sets up what the tests need, and runs them all, or those with PART in their names
  bench [--json]  measures against loops written by hand; fails below a goal
  book            builds the book into target/book
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["test"] => Ok(test::run("")),
        ["test", part] => Ok(test::run(part)),
        ["bench"] => bench::run(bench::Format::Table),
        ["bench", "--json"] => bench::run(bench::Format::Json),
        ["book"] => book::run(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
