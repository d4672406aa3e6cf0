use std::fs;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use jiff::Timestamp;

use super::*;
use crate::{CollectionConfig, Emulator, EmulatorError, FeedRequest, From, Mode, Options};

fn options() -> Options {
    Options::new(Arc::new(|| Timestamp::from_second(1_000).unwrap())).sync(false)
}

/// A small journal and where its frames begin, the end included.
fn journal() -> (Vec<u8>, Vec<usize>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("emulator.journal");
    let emulator = Emulator::open(dir.path(), options()).unwrap();
    let mut ends = vec![fs::read(&path).unwrap().len()];
    emulator.create_database(crate::LOCAL).unwrap();
    ends.push(fs::read(&path).unwrap().len());
    let config = CollectionConfig::new("/pk").retention(Duration::from_mins(1));
    let collection = emulator.create_collection("c", config).unwrap();
    ends.push(fs::read(&path).unwrap().len());
    for at in 0..5 {
        let body = format!(r#"{{"id":"{at}","pk":"p","text":"éé"}}"#);
        collection.upsert(body).unwrap();
        ends.push(fs::read(&path).unwrap().len());
    }
    (fs::read(&path).unwrap(), ends)
}

fn reopen(bytes: &[u8]) -> (Result<Emulator, EmulatorError>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("emulator.journal"), bytes).unwrap();
    (Emulator::open(dir.path(), options()), dir)
}

fn ids(emulator: &Emulator) -> Vec<String> {
    let Ok(collection) = emulator.collection("c") else {
        return Vec::new();
    };
    let request = FeedRequest {
        min: String::new(),
        max: "FF".to_owned(),
        mode: Mode::AllVersions,
        from: From::After(0),
        max_items: 100,
    };
    let page = collection.read_feed(&request).unwrap();
    page.items.iter().map(|item| item.id.to_string()).collect()
}

#[test]
fn a_journal_cut_anywhere_opens_with_what_was_whole() {
    let (bytes, ends) = journal();
    for cut in 0..=bytes.len() {
        let (emulator, dir) = reopen(&bytes[..cut]);
        let emulator = emulator.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let documents = whole.saturating_sub(3);
        let expected: Vec<String> = (0..documents).map(|at| at.to_string()).collect();
        assert_eq!(ids(&emulator), expected, "cut at {cut}");
        let kept = if whole == 0 { 0 } else { ends[whole - 1] };
        assert_eq!(emulator.recovery().cut, (cut - kept) as u64, "cut at {cut}");

        // What is written next stands, and the cut is not found again.
        let config = CollectionConfig::new("/pk").retention(Duration::from_mins(1));
        let collection = emulator.create_collection("c", config).unwrap();
        collection.upsert(r#"{"id":"new","pk":"p"}"#).unwrap();
        drop((emulator, collection));
        let emulator = Emulator::open(dir.path(), options()).unwrap();
        assert_eq!(emulator.recovery().cut, 0);
        assert_eq!(ids(&emulator).last().map(String::as_str), Some("new"));
    }
}

#[test]
fn a_flipped_byte_in_the_middle_is_an_error_that_names_its_frame() {
    let (bytes, ends) = journal();
    let last = ends[ends.len() - 2];
    for at in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            let (emulator, dir) = reopen(&damaged);
            if at >= last {
                let emulator = emulator.unwrap();
                assert_eq!(emulator.recovery().cut, (bytes.len() - last) as u64);
                continue;
            }
            let frame = ends.iter().rfind(|end| **end <= at).copied().unwrap_or(0);
            let error = emulator.unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(&format!("byte offset {frame}")),
                "{at}: {text}"
            );
            assert!(text.contains("emulator.journal"), "{text}");
            let found = fs::read(dir.path().join("emulator.journal")).unwrap();
            assert_eq!(found, damaged, "nothing was changed on disk");
        }
    }
}

#[test]
fn bytes_lost_from_the_middle_are_found() {
    let (bytes, ends) = journal();
    let mut damaged = bytes.clone();
    damaged.drain(ends[2] + 3..ends[2] + 10);
    let (emulator, _dir) = reopen(&damaged);
    let Err(EmulatorError::Journal(JournalError::Corrupt { offset, next, .. })) = emulator else {
        panic!("opened");
    };
    assert_eq!(offset, ends[2] as u64);
    assert_eq!(next, (ends[3] - 7) as u64);
}

#[test]
fn a_full_disk_fails_the_write_and_loses_nothing() {
    let medium = Medium::Full(RwLock::default(), 900);
    let emulator = Emulator::on(medium, PathBuf::from("full"), None, options()).unwrap();
    let config = CollectionConfig::new("/pk").retention(Duration::from_mins(1));
    let collection = emulator.create_collection("c", config).unwrap();
    let mut written = Vec::new();
    let error = loop {
        let id = written.len().to_string();
        match collection.create(format!(r#"{{"id":"{id}","pk":"p"}}"#)) {
            Ok(_) => written.push(id),
            Err(error) => break error,
        }
    };
    assert_eq!(error.status(), 500);
    assert!(
        error.to_string().contains("cannot write to full"),
        "{error}"
    );
    assert!(!written.is_empty());
    assert_eq!(ids(&emulator), written);
    // A smaller write still fits where the failed one was taken back.
    collection.delete("0", &"p".into()).unwrap();
    assert_eq!(ids(&emulator).len(), written.len() + 1);
}

#[test]
fn the_same_seed_clock_and_calls_make_the_same_journal() {
    assert_eq!(journal(), journal());
}

#[test]
fn a_file_that_is_no_journal_is_left_alone() {
    let (emulator, dir) = reopen(b"{\"id\": 1}\n");
    let text = emulator.unwrap_err().to_string();
    assert!(text.contains("is not a journal"), "{text}");
    let found = fs::read(dir.path().join("emulator.journal")).unwrap();
    assert_eq!(found, b"{\"id\": 1}\n");
}
