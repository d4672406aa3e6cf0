//! Other programs: where the project lies, how cargo is called, and what they print.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("this crate lies in tests/xtask")
}

/// The folder for what is built.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A call in the workspace's folder.
pub(crate) fn call(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// A call of the cargo that runs this.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    call(program, arguments)
}

/// Runs it with its output shown, and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> io::Result<bool> {
    Ok(command
        .status()
        .map_err(|error| named(command, &error))?
        .success())
}

/// Runs it and gives its output; a failure is an error that carries what it said.
pub(crate) fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output().map_err(|error| named(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    // Maven says what is wrong on the other stream, and first.
    let otherwise = String::from_utf8_lossy(&output.stdout);
    let last = last.or_else(|| otherwise.lines().find(|line| !line.trim().is_empty()));
    Err(io::Error::other(format!(
        "`{}` failed: {}",
        name(command),
        last.unwrap_or("it said nothing")
    )))
}

/// Runs it and hands each line of its output to `line`; says whether it succeeded.
pub(crate) fn lines(command: &mut Command, mut line: impl FnMut(&str)) -> io::Result<bool> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| named(command, &error))?;
    let stdout = child.stdout.take().expect("it is piped");
    let mut reader = BufReader::new(stdout);
    let mut bytes = Vec::new();
    // A test may print what is not UTF-8.
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
        bytes.clear();
    }
    Ok(child.wait()?.success())
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn named(command: &Command, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("`{}` cannot be run: {error}", name(command)),
    )
}
