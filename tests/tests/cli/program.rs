//! The programs under test, and a process of one that is watched line by line.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

/// Their names and binaries.
pub(crate) const ALL: [(&str, &str); 5] = [
    ("shelf", env!("CARGO_BIN_EXE_shelf")),
    ("nothing", env!("CARGO_BIN_EXE_nothing")),
    ("mistaken", env!("CARGO_BIN_EXE_mistaken")),
    ("wanting", env!("CARGO_BIN_EXE_wanting")),
    ("shop", env!("CARGO_BIN_EXE_shop")),
];

/// A folder with settings, in which `shelf` is run.
pub(crate) struct Shelf(tempfile::TempDir);

impl Shelf {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = include_str!("../../cli/first.in/projector.toml");
        std::fs::write(folder.path().join("projector.toml"), settings).unwrap();
        Self(folder)
    }

    /// Runs another program to a bad end.
    pub(crate) fn bad_of(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.path())
            .env("PROJECTOR_LOG", "off")
            .env_remove("CARGO_MANIFEST_DIR")
            .output()
            .unwrap();
        let prose = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{prose}");
        prose
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shelf"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("PROJECTOR_LOG", "off")
            .env_remove("CARGO_MANIFEST_DIR");
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs to a good end, and gives what it wrote to stdout.
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let prose = text(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {prose}");
        text(&output.stdout)
    }

    /// Runs to a bad end, and gives what it wrote to stderr.
    pub(crate) fn bad(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let prose = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {prose}");
        prose
    }

    /// Starts and goes on.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let mut child = self
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Running { child, stderr }
    }
}

/// A process that goes on.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    /// Reads its stderr up to a line that holds `word`.
    pub(crate) fn until(&mut self, word: &str) {
        let mut all = String::new();
        while !all.contains(word) {
            let read = self.stderr.read_line(&mut all).unwrap();
            assert!(read > 0, "it ended without saying `{word}`: {all}");
        }
    }

    /// Sends it a signal: `INT`, `TERM`, `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &pid])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Its exit code, and what it still wrote to stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Of one that has ended this is an error, and none that matters.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
