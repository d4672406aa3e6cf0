//! A process that dies inside an append: what it had answered is there, the torn write is not.
#![cfg(feature = "crash-points")]
#![expect(clippy::unwrap_used, reason = "what a test unwraps is what it asserts")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use jiff::Timestamp;
use projectionist_emulator::{CollectionConfig, Emulator, Options};

const DIRECTORY: &str = "EMULATOR_CRASH_DIRECTORY";

fn open(dir: &Path) -> Emulator {
    Emulator::open(dir, Options::new(Arc::new(|| Timestamp::UNIX_EPOCH))).unwrap()
}

#[test]
#[ignore = "the process that dies"]
fn writer() {
    let Ok(dir) = std::env::var(DIRECTORY) else {
        return;
    };
    let emulator = open(Path::new(&dir));
    let config = CollectionConfig::new("/pk");
    let collection = emulator.create_collection("c", config).unwrap();
    for id in 0..10 {
        collection.create(format!(r#"{{"id":"{id}"}}"#)).unwrap();
    }
}

#[test]
fn what_was_answered_survives_a_crash_inside_the_next_append() {
    let dir = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer", "--ignored", "--nocapture"])
        .env(DIRECTORY, dir.path())
        .env("PROJECTIONIST_CRASH", "journal:6")
        .output()
        .unwrap();
    assert!(!child.status.success());
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(text.contains("dying inside an append"), "{text}");

    let emulator = open(dir.path());
    let recovery = emulator.recovery();
    assert_eq!(
        recovery.frames, 5,
        "the database, the collection and three documents"
    );
    assert!(recovery.cut > 0);
    assert_eq!(emulator.collection("c").unwrap().count(), 3);
}
