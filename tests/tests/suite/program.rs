//! Programs of this crate as processes, each in a directory of its own.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use projectionist_emulator::{CollectionInfo, Emulator, Options};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tempfile::TempDir;

/// The example's projections.
pub(crate) const SHOP: &str = env!("CARGO_BIN_EXE_shop");
/// The counter of all versions.
pub(crate) const COUNTER: &str = env!("CARGO_BIN_EXE_counter");
/// The program with the hook that takes its time.
pub(crate) const STUBBORN: &str = env!("CARGO_BIN_EXE_stubborn");

/// The settings of the collection `things`, with `ranges` ranges.
pub(crate) fn things(ranges: u32) -> String {
    format!(
        "feed = \"emulator\"\nstore = \"sqlite\"\n\n[collections.things]\npartition_key = \"/key\"\nranges = {ranges}\nretention = \"7d\"\n"
    )
}

/// A directory with a program's settings and its data.
pub(crate) struct Place {
    dir: TempDir,
    program: &'static str,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new(program: &'static str, settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("projector.toml"), settings).unwrap();
        Self { dir, program }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn data(&self, name: &str) -> PathBuf {
        self.file(".projector").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.file(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The program, deaf to what the test's own environment sets.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PROJECT") {
                command.env_remove(name);
            }
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.command(arguments))
    }

    /// Runs it, and fails unless it succeeds.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Ended {
        let ended = self.run(arguments);
        assert!(ended.status.success(), "{arguments:?}: {ended:#?}");
        ended
    }

    /// Starts it; what it says goes to a file.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments), self.file("said"))
    }

    /// Opens its collections, which nobody may own now.
    pub(crate) fn emulator(&self) -> Emulator {
        Emulator::open(&self.file(".projector"), options()).unwrap()
    }

    /// The collection `things` as it is.
    pub(crate) fn things(&self) -> CollectionInfo {
        CollectionInfo::of(&self.emulator().collection("things").unwrap())
    }

    /// The read model, to look only.
    pub(crate) async fn read_model(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new()
            .filename(self.data("projector.db"))
            .read_only(true);
        SqliteConnection::connect_with(&options).await.unwrap()
    }
}

/// Unsynced writes: processes die here, the machine does not.
pub(crate) fn options() -> Options {
    let clock = projectionist_runtime::clock::SystemClock;
    Options::new(std::sync::Arc::new(move || {
        projectionist_runtime::clock::Clock::now(&clock)
    }))
    .seed(1)
    .sync(false)
    .program("test")
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        status: output.status,
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A process that runs. Dropped, it is killed.
pub(crate) struct Running {
    child: Child,
    said: PathBuf,
}

impl Running {
    pub(crate) fn start(mut command: Command, said: PathBuf) -> Self {
        let file = File::create(&said).unwrap();
        let child = command.stdout(Stdio::null()).stderr(file).spawn().unwrap();
        Self { child, said }
    }

    /// What it has written to stderr.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }

    /// Waits until it has said this.
    #[track_caller]
    pub(crate) fn says(&self, what: &str) {
        until(&format!("it says {what:?}"), || {
            let said = self.said();
            said.contains(what).then_some(()).ok_or(said)
        });
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("sh")
            .args(["-c", &format!("kill -{name} {}", self.child.id())])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        let status = until("the process ends", || {
            self.child.try_wait().unwrap().ok_or_else(|| self.said())
        });
        Ended {
            status,
            out: String::new(),
            err: self.said(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    pub(crate) fn is_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }
}

/// Looks again and again until there is what is looked for; a minute is more than any of it takes.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "another process has no clock that a test could move"
)]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    const STEP: Duration = Duration::from_millis(5);
    let mut seen = String::new();
    for _ in 0..12_000 {
        match look() {
            Ok(found) => return found,
            Err(other) => seen = other,
        }
        std::thread::sleep(STEP);
    }
    panic!("waited in vain until {what}; last seen: {seen}");
}

/// The documents of the sample, where they are there.
pub(crate) fn sample() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let shared = std::env::var_os("PROJECTIONIST_SHARED")
        .map_or_else(|| root.join("../shared"), PathBuf::from);
    let sample = shared.join("data/cosmicworks");
    sample.join("sales-orders.jsonl").exists().then_some(sample)
}
