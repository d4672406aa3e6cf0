//! `link!` keeps projections of a crate that nothing else names, whatever the linker removes.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::text;

/// The folder of the workspace's builds, in which the tests' programs lie as `debug/shelf`.
fn target() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_shelf"));
    let target = program.parent().and_then(Path::parent);
    target.expect("programs lie two levels down").to_owned()
}

fn names(profile: &str, folder: &str) -> String {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--package", "linked"])
        .args(["--profile", profile])
        .arg("--target-dir")
        .arg(target())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    let program = target().join(folder).join("linked");
    text(&Command::new(program).output().unwrap().stdout)
}

#[test]
fn projections_survive_the_linker() {
    assert_eq!(names("dev", "debug"), "deep\nplain\n");
}

#[test]
fn projections_survive_link_time_optimisation() {
    assert_eq!(names("lto", "lto"), "deep\nplain\n");
}
