//! `cargo xtask test`: sets up what tests need, and runs every test there is.
//!
//! A new kind of test is one more step here. A step that lacks something of the machine says so as
//! [`Outcome::NotRun`].

use std::io;
use std::process::Command;

use crate::command::{call, cargo, lines, output, root, succeeds};
use crate::postgres::Server;
use crate::step::{self, Outcome, Step};
use crate::{interop, tools};

const STEPS: &[Step] = &[
    Step {
        name: "hash vectors against Python's azure-cosmos",
        run: vectors,
    },
    Step {
        name: "PostgreSQL for the tests",
        run: postgres,
    },
    Step {
        name: "cargo test --workspace",
        run: workspace,
    },
    Step {
        name: "Python's azure-cosmos against the gateway",
        run: interop::python,
    },
    Step {
        name: "the projector against the gateway, with Python writing",
        run: acceptance,
    },
    Step {
        name: "JavaScript's @azure/cosmos against the gateway",
        run: interop::javascript,
    },
    Step {
        name: "Java's change feed processor against the gateway",
        run: interop::java,
    },
];

/// Runs the tests whose names contain `part`. With `CI=true` what is not run counts as failed.
pub(crate) fn run(part: &str) -> bool {
    let strict = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    let steps: Vec<&Step> = STEPS
        .iter()
        .filter(|step| step.name.contains(part))
        .collect();
    step::run(&steps, strict)
}

/// The hashes of partition keys must be those of a client that is not ours: they are computed anew
/// and compared with the file that the emulator's tests read.
fn vectors() -> io::Result<Outcome> {
    let folder = root().join("runtime/emulator/src/hash");
    let script = std::fs::read_to_string(folder.join("vectors.py"))?;
    let Some(requirement) = requirement(&script) else {
        return Err(io::Error::other(
            "vectors.py names no version of azure-cosmos",
        ));
    };
    let lock = std::fs::read_to_string(tools::sources("python").join("requirements.txt"))?;
    if !lock
        .lines()
        .any(|line| line.split_whitespace().next() == Some(requirement))
    {
        return Err(io::Error::other(format!(
            "vectors.py names {requirement}, and requirements.txt another version"
        )));
    }
    let python = match tools::python() {
        Ok(python) => python,
        Err(error) => return Ok(Outcome::NotRun(error.to_string())),
    };
    let fresh = output(call(python, &["vectors.py"]).current_dir(&folder))?;
    let stored = std::fs::read_to_string(folder.join("vectors.json"))?;
    if fresh.trim_end() == stored.trim_end() {
        println!("vectors.json is what {requirement} computes");
        return Ok(Outcome::check(true));
    }
    let (line, (left, right)) = stored
        .lines()
        .zip(fresh.lines())
        .enumerate()
        .find(|(_, (left, right))| left != right)
        .unwrap_or((0, ("its length", "another length")));
    println!(
        "vectors.json:{}: has {left}, {requirement} computes {right}",
        line + 1
    );
    Ok(Outcome::check(false))
}

/// The `azure-cosmos==…` that a script names.
fn requirement(script: &str) -> Option<&str> {
    let from = script.find("azure-cosmos==")?;
    script[from..].split_whitespace().next()
}

/// Whether there is a PostgreSQL, or one can be had.
fn postgres() -> io::Result<Outcome> {
    match Server::start() {
        Ok(server) => {
            println!("it answers at {}", server.url);
            Ok(Outcome::check(true))
        }
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(error),
        Err(error) => Ok(Outcome::NotRun(error.to_string())),
    }
}

/// Everything that `cargo test` knows, doctests and the book's code included.
fn workspace() -> io::Result<Outcome> {
    // Compiled first, so that an error of the compiler is not buried under tests.
    if !succeeds(&mut cargo(&["test", "--workspace", "--no-run"]))? {
        return Err(io::Error::other("it does not compile"));
    }
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    // Without it the tests that want it say so, and the step above counts as not run.
    let server = Server::start().ok();
    if let Some(server) = &server {
        tests.env("PROJECTIONIST_POSTGRES", &server.url);
    }
    harness(&mut tests)
}

/// The tests that need a client in another language to write.
fn acceptance() -> io::Result<Outcome> {
    let python = match tools::python() {
        Ok(python) => python,
        Err(error) => return Ok(Outcome::NotRun(error.to_string())),
    };
    // The whole workspace, so that nothing is compiled again with other features.
    let arguments = ["test", "--workspace", "--test", "suite", "gateway::"];
    harness(
        cargo(&arguments)
            .args(["--", "--ignored"])
            .env("PROJECTIONIST_PYTHON", python),
    )
}

/// Runs tests of cargo's, and counts them.
fn harness(tests: &mut Command) -> io::Result<Outcome> {
    let (mut passed, mut failed) = (0, 0);
    let mut names = Vec::new();
    let succeeded = lines(tests, |line| {
        println!("{line}");
        if let Some((good, bad)) = counts(line) {
            passed += good;
            failed += bad;
        }
        names.extend(failure(line).map(str::to_owned));
    })?;
    // They are far up by now.
    for name in names {
        println!("failed: {name}");
    }
    Ok(Outcome::Ran {
        passed,
        failed,
        succeeded,
    })
}

/// The test's name, of a line such as `test feed::reads ... FAILED`.
fn failure(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// Passed and failed, of a line such as `test result: ok. 5 passed; 0 failed; …`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = numbers.split("; ");
    let passed = numbers.next()?.strip_suffix(" passed")?.parse().ok()?;
    let failed = numbers.next()?.strip_suffix(" failed")?.parse().ok()?;
    Some((passed, failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_harness() {
        let ok = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let bad = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(counts(ok), Some((5, 0)));
        assert_eq!(counts(bad), Some((3, 2)));
        assert_eq!(counts("test tests::reads ... ok"), None);
        assert_eq!(
            failure("test tests::reads ... FAILED"),
            Some("tests::reads")
        );
        assert_eq!(failure("test tests::reads ... ok"), None);
    }

    #[test]
    fn finds_the_requirement() {
        assert_eq!(
            requirement("    pip install azure-cosmos==4.17.1 && python3 vectors.py"),
            Some("azure-cosmos==4.17.1")
        );
        assert_eq!(requirement("import json"), None);
    }
}
