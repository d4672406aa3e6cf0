//! Microsoft's own clients, unmodified, against the gateway of our emulator.
//!
//! Each client is a program in `tests/interop` that prints `ok NAME` or `FAILED NAME: why` for each check. It gets an
//! emulator of its own, in memory, that ends with the step.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::command::{call, cargo, lines, succeeds, target};
use crate::step::Outcome;
use crate::tools;

/// Python's azure-cosmos: documents, queries, both feeds, splits.
pub(crate) fn python() -> io::Result<Outcome> {
    let python = match tools::python() {
        Ok(python) => python,
        Err(error) => return Ok(Outcome::NotRun(error.to_string())),
    };
    let emulator = Emulator::start(&[])?;
    emulator
        .checks(call(python, &["-B", "client.py", "check"]).current_dir(tools::sources("python")))
}

/// JavaScript's @azure/cosmos: the same.
pub(crate) fn javascript() -> io::Result<Outcome> {
    let place = match tools::javascript() {
        Ok(place) => place,
        Err(error) => return Ok(Outcome::NotRun(error.to_string())),
    };
    let emulator = Emulator::start(&[])?;
    emulator.checks(call("node", &["client.js"]).current_dir(place))
}

/// Java's change feed processor: two hosts, splits under load.
pub(crate) fn java() -> io::Result<Outcome> {
    let libraries = match tools::java() {
        Ok(libraries) => libraries,
        Err(error) => return Ok(Outcome::NotRun(error.to_string())),
    };
    let classes = tools::text(&tools::folder("java").join("classes"));
    let mut compiler = call("javac", &["-nowarn", "-d", &classes, "-cp", &libraries]);
    for entry in std::fs::read_dir(tools::sources("java").join("src/main/java/interop"))? {
        compiler.arg(entry?.path());
    }
    if !succeeds(&mut compiler)? {
        return Err(io::Error::other("it does not compile"));
    }
    let separator = if cfg!(windows) { ';' } else { ':' };
    let emulator = Emulator::start(&["--https"])?;
    emulator.checks(&mut call(
        "java",
        &[
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            // The certificate is made by the emulator, for itself.
            "-DCOSMOS.EMULATOR_SERVER_CERTIFICATE_VALIDATION_DISABLED=true",
            "-cp",
            &format!("{classes}{separator}{libraries}"),
            "interop.Client",
        ],
    ))
}

/// A running emulator, and where it listens.
struct Emulator {
    child: Child,
    endpoint: String,
}

impl Emulator {
    fn start(more: &[&str]) -> io::Result<Self> {
        let name = "projectionist-emulator";
        let build = [
            "build",
            "--quiet",
            "-p",
            name,
            "--features",
            "gateway",
            "--bin",
            name,
        ];
        if !succeeds(&mut cargo(&build))? {
            return Err(io::Error::other("the emulator does not compile"));
        }
        let program = target()
            .join("debug")
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let child = call(program, &["--port", "0", "--memory", "--control"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut emulator = Self {
            child,
            endpoint: String::new(),
        };
        // Borrowed and left open: a program that cannot print ends.
        let stdout = emulator.child.stdout.as_mut().expect("it is piped");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        match line.trim_end().strip_prefix("listening on ") {
            Some(endpoint) => endpoint.clone_into(&mut emulator.endpoint),
            None => {
                return Err(io::Error::other(format!(
                    "the emulator says `{}` instead of where it listens",
                    line.trim_end()
                )));
            }
        }
        Ok(emulator)
    }

    /// Runs a client against it, and counts its checks.
    fn checks(&self, client: &mut Command) -> io::Result<Outcome> {
        client
            .env("COSMOS_ENDPOINT", &self.endpoint)
            // What a machine sends through a proxy is not for this one.
            .env("NO_PROXY", "127.0.0.1,localhost")
            .env("no_proxy", "127.0.0.1,localhost");
        let (mut passed, mut failed) = (0, 0);
        let succeeded = lines(client, |line| {
            println!("{line}");
            match verdict(line) {
                Some(true) => passed += 1,
                Some(false) => failed += 1,
                None => {}
            }
        })?;
        Ok(Outcome::Ran {
            passed,
            failed,
            // A client without a check has proven nothing.
            succeeded: succeeded && passed > 0,
        })
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // Where it has ended by itself there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a line is a check's, and whether that is well.
fn verdict(line: &str) -> Option<bool> {
    if line.starts_with("ok ") {
        Some(true)
    } else if line.starts_with("FAILED ") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_client() {
        assert_eq!(verdict("ok feed_from_now"), Some(true));
        assert_eq!(verdict("FAILED feed_pages: sizes: [1]"), Some(false));
        assert_eq!(verdict("   history: 2072 versions"), None);
        assert_eq!(verdict("okay"), None);
    }
}
