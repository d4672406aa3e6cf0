//! A private server of PostgreSQL: on a free port of loopback, in a folder of its own, gone when it is dropped.
//!
//! It keeps nothing safe on the disk, for nothing of it is kept. PostgreSQL refuses to run as root; there it runs as the
//! user that its package makes.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::output;

/// A running server.
pub(crate) struct Server {
    /// A database on which others may be made.
    pub(crate) url: String,
    folder: PathBuf,
    programs: PathBuf,
    user: Option<&'static str>,
}

impl Server {
    /// Finds PostgreSQL, or installs it where that may be, and starts it.
    pub(crate) fn start() -> io::Result<Self> {
        if programs().is_none() {
            install()?;
        }
        let Some(programs) = programs() else {
            return Err(io::Error::other(
                "PostgreSQL was installed and is not found",
            ));
        };
        let user = is_root().then_some("postgres");
        let folder =
            std::env::temp_dir().join(format!("projectionist-postgres-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        if let Some(user) = user {
            output(Command::new("chown").arg(user).arg(&folder))?;
        }
        let data = folder.join("data");
        output(
            as_user(user, &programs.join("initdb"))
                .args([
                    "--auth=trust",
                    "--username=postgres",
                    "--encoding=UTF8",
                    "--no-sync",
                ])
                .arg("--pgdata")
                .arg(&data)
                .current_dir(&folder),
        )?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Self {
            url: format!("postgres://postgres@127.0.0.1:{port}/postgres"),
            folder,
            programs,
            user,
        };
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c full_page_writes=off -c max_connections=300"
        );
        // It says where it logs to, which is gone with the folder: what it logged is said here.
        match output(server.control("start").args(["-o", &options])) {
            Ok(_) => Ok(server),
            Err(error) => {
                let log = fs::read_to_string(server.folder.join("log")).unwrap_or_default();
                let last = log.lines().last().unwrap_or("it logged nothing");
                Err(io::Error::other(format!("{error}: {last}")))
            }
        }
    }

    /// `pg_ctl`, which waits until it is done.
    fn control(&self, what: &str) -> Command {
        let mut command = as_user(self.user, &self.programs.join("pg_ctl"));
        command
            .args([what, "-s", "-w", "-t", "60", "-D"])
            .arg(self.folder.join("data"))
            .arg("-l")
            .arg(self.folder.join("log"))
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What fails here leaves a process or a folder behind, and no test the worse.
        let _ = output(self.control("stop").args(["-m", "immediate"]));
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A call as another user, where this one may not.
fn as_user(user: Option<&str>, program: &Path) -> Command {
    match user {
        None => Command::new(program),
        Some(user) => {
            let mut command = Command::new("runuser");
            command.args(["-u", user, "--"]).arg(program);
            command
        }
    }
}

/// The folder of the newest version's programs.
fn programs() -> Option<PathBuf> {
    let is_there =
        |folder: &Path| folder.join("initdb").exists() && folder.join("postgres").exists();
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, folder)| is_there(folder))
        .collect();
    versions.sort();
    if let Some((_, newest)) = versions.pop() {
        return Some(newest);
    }
    let told = output(Command::new("pg_config").arg("--bindir")).ok();
    told.map(|folder| PathBuf::from(folder.trim()))
        .filter(|folder| is_there(folder))
}

/// Installs Debian's package, where this user may.
fn install() -> io::Result<()> {
    if !is_root() {
        return Err(io::Error::other(
            "PostgreSQL is not there: install it (Debian: `apt-get install postgresql`)",
        ));
    }
    println!("installing PostgreSQL");
    let get = |arguments: &[&str]| {
        output(
            Command::new("apt-get")
                .args(arguments)
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )
    };
    let install = [
        "install",
        "-y",
        "-q",
        "--no-install-recommends",
        "postgresql",
    ];
    if get(&install).is_err() {
        get(&["update", "-q"])?;
        get(&install)?;
    }
    Ok(())
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
