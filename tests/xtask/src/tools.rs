//! The tools of other languages, set up once below `target/tools` from the lock files in `tests/interop`.
//!
//! A folder's mark holds the lock that it was made from and is written last: a set-up that broke off, or whose
//! lock has changed, is begun anew. Nothing is fetched while the mark is right, so later runs need no network.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::command::{call, output, root, target};

/// The folder of the tests that are written in `language`.
pub(crate) fn sources(language: &str) -> PathBuf {
    root().join("tests/interop").join(language)
}

/// A Python that has what `requirements.txt` names.
pub(crate) fn python() -> io::Result<PathBuf> {
    let lock = sources("python").join("requirements.txt");
    let venv = folder("python");
    let python = venv.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    once(&venv, &fs::read_to_string(&lock)?, || {
        let system = if cfg!(windows) { "python" } else { "python3" };
        output(&mut call(system, &["-m", "venv", "--clear", &text(&venv)]))?;
        output(&mut call(
            &python,
            &[
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--require-hashes",
                "--requirement",
                &text(&lock),
            ],
        ))
    })?;
    Ok(python)
}

/// A folder with the JavaScript tests and what `package-lock.json` names.
pub(crate) fn javascript() -> io::Result<PathBuf> {
    let sources = sources("javascript");
    let place = folder("javascript");
    fs::create_dir_all(&place)?;
    // Modules are looked for beside the program, and the sources stay free of them.
    for entry in fs::read_dir(&sources)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, place.join(name))?;
        }
    }
    let lock = fs::read_to_string(sources.join("package-lock.json"))?;
    once(&place, &lock, || {
        output(call(script("npm"), &["ci", "--no-audit", "--no-fund"]).current_dir(&place))
    })?;
    // Not found, this is said before a test fails of it.
    output(&mut call("node", &["--version"]))?;
    Ok(place)
}

/// The class path with what `pom.xml` names.
pub(crate) fn java() -> io::Result<String> {
    let sources = sources("java");
    let place = folder("java");
    fs::create_dir_all(&place)?;
    let list = place.join("classpath");
    once(
        &place,
        &fs::read_to_string(sources.join("pom.xml"))?,
        || {
            output(
                call(
                    script("mvn"),
                    &[
                        "--batch-mode",
                        "--quiet",
                        &format!("-Dmaven.repo.local={}", text(&place.join("repository"))),
                        &format!("-Dmdep.outputFile={}", text(&list)),
                        "dependency:build-classpath",
                    ],
                )
                .current_dir(&sources),
            )
        },
    )?;
    output(&mut call("javac", &["-version"]))?;
    Ok(fs::read_to_string(list)?.trim().to_owned())
}

/// A folder below `target/tools`.
pub(crate) fn folder(name: &str) -> PathBuf {
    target().join("tools").join(name)
}

/// The path as an argument.
pub(crate) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// On Windows these programs are scripts, which are called by their whole names.
fn script(name: &str) -> String {
    if cfg!(windows) {
        format!("{name}.cmd")
    } else {
        name.to_owned()
    }
}

/// Calls `make` unless the folder's mark says that it was made from `lock`.
fn once(folder: &Path, lock: &str, make: impl FnOnce() -> io::Result<String>) -> io::Result<()> {
    let mark = folder.join("made-from");
    if fs::read_to_string(&mark).is_ok_and(|made| made == lock) {
        return Ok(());
    }
    if mark.exists() {
        fs::remove_file(&mark)?;
    }
    make()?;
    fs::write(mark, lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_lock_makes_anew() {
        let place = folder(&format!("test-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let mut made = Vec::new();
        for lock in ["one", "one", "two", "two"] {
            once(&place, lock, || {
                made.push(lock);
                Ok(String::new())
            })
            .unwrap();
        }
        let failed = once(&place, "three", || Err(io::Error::other("no network")));
        assert!(failed.is_err());
        once(&place, "two", || {
            made.push("after a failure");
            Ok(String::new())
        })
        .unwrap();
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(made, ["one", "two", "after a failure"]);
    }
}
