//! Bad input: a clear error, a code that is not 0, nothing lost.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use super::program::{Shelf, text};

#[test]
fn a_corrupt_journal_is_refused_by_its_offset_and_left_alone() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let journal = shelf.path().join(".projector/emulator.journal");
    let mut bytes = fs::read(&journal).unwrap();
    // Inside the first record, which others follow.
    let middle = 40;
    bytes[middle] ^= 0xFF;
    fs::write(&journal, &bytes).unwrap();
    for arguments in [&["run", "--once"][..], &["check"]] {
        let prose = shelf.bad(arguments, 1);
        assert!(prose.starts_with("error[journal-failed]: "), "{prose}");
        assert!(prose.contains("emulator.journal"), "{prose}");
        let digits = prose.split(|c: char| !c.is_ascii_digit());
        let offset = digits
            .filter_map(|number| number.parse::<usize>().ok())
            .any(|offset| offset <= middle);
        assert!(offset, "the offset is named: {prose}");
    }
    assert_eq!(fs::read(&journal).unwrap(), bytes);
}

#[test]
fn a_journal_that_lost_its_end_is_noticed() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let journal = shelf.path().join(".projector/emulator.journal");
    let bytes = fs::read(&journal).unwrap();
    fs::write(&journal, &bytes[..bytes.len() - 1]).unwrap();
    let prose = shelf.bad(&["run", "--once"], 1);
    assert!(prose.contains("error[beyond-end]: "), "{prose}");
    assert!(!prose.contains("demonstration"), "{prose}");
}

#[test]
fn another_mode_under_an_old_name_is_refused() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let changed = env!("CARGO_BIN_EXE_changed");
    for command in [&["check"][..], &["run", "--only", "trail"]] {
        let prose = shelf.bad_of(changed, command);
        assert!(
            prose.contains("error[mode-changed]: projection `trail`"),
            "{prose}"
        );
    }
    for command in [&["check"][..], &["run", "--only", "books"]] {
        let prose = shelf.bad_of(changed, command);
        assert!(prose.starts_with("error[ddl-failed]: "), "{prose}");
        assert!(prose.contains("tabel"), "{prose}");
    }
}

/// Root may write everywhere, so then the program runs as nobody.
#[test]
fn a_store_that_may_only_be_read_is_refused() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let data = shelf.path().join(".projector");
    let store = data.join("projector.db");
    let before = fs::read(&store).unwrap();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for file in fs::read_dir(&data).unwrap() {
        let path = file.unwrap().path();
        let is_store = path.to_string_lossy().contains("projector.db");
        mode(&path, if is_store { 0o444 } else { 0o666 });
    }
    mode(&data, 0o777);
    mode(shelf.path(), 0o755);
    let mut command = shelf.command(&["run", "--once"]);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    let prose = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{prose}");
    assert!(prose.contains("error[store-read-only]: "), "{prose}");
    assert!(prose.contains("projector.db"), "{prose}");
    assert_eq!(fs::read(&store).unwrap(), before);
}

#[test]
fn a_journal_that_was_lost_is_noticed() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    fs::remove_file(shelf.path().join(".projector/emulator.journal")).unwrap();
    let prose = shelf.bad(&["run", "--once"], 1);
    assert!(prose.contains("error[collection-recreated]: "), "{prose}");
}

#[test]
fn a_store_that_is_no_database_is_refused() {
    let shelf = Shelf::new();
    let data = shelf.path().join(".projector");
    fs::create_dir(&data).unwrap();
    fs::write(
        data.join("projector.db"),
        "this is no database\n".repeat(100),
    )
    .unwrap();
    let prose = shelf.bad(&["run", "--once"], 1);
    assert!(prose.starts_with("error[store-"), "{prose}");
    assert!(prose.contains("projector.db"), "{prose}");
}

#[test]
fn a_data_directory_that_cannot_be_made_is_refused() {
    let shelf = Shelf::new();
    fs::write(shelf.path().join("file"), "").unwrap();
    let prose = shelf.bad(&["run", "--once", "--data-dir", "file/data"], 1);
    assert!(prose.starts_with("error[store-failed]: "), "{prose}");
    assert!(prose.contains("file/data"), "{prose}");
}

#[test]
fn nothing_of_a_file_with_a_bad_line_is_written() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let journal = shelf.path().join(".projector/emulator.journal");
    let before = fs::read(&journal).unwrap();
    let good = "{\"id\":\"a\",\"room\":\"west\",\"copies\":1}\n";
    for (line, says) in [
        ("{\"id\":", "EOF while parsing"),
        ("[]", "no JSON object"),
        ("{\"room\":\"west\"}", "has no \"id\""),
        ("{\"id\":\"a/b\"}", "contains \"/\""),
        ("{\"id\":\"b\",\"room\":[]}", "partition key"),
    ] {
        let file = shelf.path().join("books.jsonl");
        // More than one group of writes before the bad line.
        fs::write(&file, format!("{}\n{line}\n{good}", good.repeat(600))).unwrap();
        let prose = shelf.bad(&["dev", "load", "shelf", "books.jsonl"], 1);
        assert!(prose.starts_with("error[bad-document]: "), "{prose}");
        assert!(prose.contains("books.jsonl:602 "), "{prose}");
        assert!(prose.contains(says), "{prose}");
    }
    assert_eq!(fs::read(&journal).unwrap(), before);
}

#[test]
fn a_page_that_keeps_failing_ends_a_run_once() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let book = r#"{"id": "w", "room": "west", "copies": 1, "task": "fail"}"#;
    shelf.good(&["dev", "put", "shelf", book]);
    let settings = shelf.path().join("projector.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(
        &settings,
        format!("once_attempts = 2\nbackoff_max = \"1ms\"\n{text}"),
    )
    .unwrap();
    let prose = shelf.bad(&["run", "--once"], 1);
    assert!(prose.contains("error[gave-up]: "), "{prose}");
    assert!(prose.contains("book w is on loan"), "{prose}");
    let lines = shelf.good(&["status", "--json"]);
    assert!(lines.contains(r#""backlog":1,"#), "{lines}");
}

#[test]
fn a_changed_partition_key_is_refused() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let prose = {
        let settings = shelf.path().join("projector.toml");
        let text = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, text.replace("/room", "/id")).unwrap();
        shelf.bad(&["run", "--once"], 1)
    };
    assert!(prose.starts_with("error[bad-setting]: "), "{prose}");
    assert!(prose.contains("partition key"), "{prose}");
}

/// Whatever is refused, and whoever only looks, leaves the collections as they are: here a window without which history
/// would be gone.
#[test]
fn settings_that_are_refused_or_only_looked_at_change_nothing() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    shelf.good(&[
        "dev",
        "put",
        "shelf",
        r#"{"id": "a", "room": "west", "copies": 1}"#,
    ]);
    let settings = fs::read_to_string(shelf.path().join("projector.toml")).unwrap();
    let without: Vec<_> = settings
        .lines()
        .filter(|line| !line.starts_with("retention"))
        .collect();
    assert_ne!(without.len(), settings.lines().count());
    let mut without = without.join("\n");
    let at = without.find("partition_key").unwrap();
    without.insert_str(at, "ttl = \"1s\"\n");
    fs::write(shelf.path().join("bad.toml"), without).unwrap();
    for command in [&["check"][..], &["run", "--once"]] {
        let prose = shelf.bad(&[command, &["--config", "bad.toml"]].concat(), 1);
        assert!(prose.starts_with("error[no-retention]: "), "{prose}");
    }
    shelf.good(&["status", "--config", "bad.toml"]);
    let book = r#"{"id": "b", "room": "west", "copies": 1}"#;
    shelf.good(&["dev", "put", "shelf", book, "--config", "bad.toml"]);
    let again = text(&shelf.run(&["run", "--once"]).stderr);
    // Two projections, two books.
    assert!(again.contains("\n4 changes applied"), "{again}");
}

/// A check on an empty folder leaves an empty folder.
#[test]
fn a_check_leaves_nothing_behind() {
    let shelf = Shelf::new();
    shelf.good(&["check"]);
    assert!(!shelf.path().join(".projector").exists());
}
