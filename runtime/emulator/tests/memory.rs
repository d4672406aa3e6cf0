//! Reading a page costs memory for the page, however large the collection is.
//!
//! The process's own peak is measured, so these tests are a binary of their own.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what a test unwraps is what it asserts")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use projectionist_emulator::{CollectionConfig, Emulator, FeedRequest, From, Mode, Options, Write};

fn options() -> Options {
    Options::new(Arc::new(|| Timestamp::UNIX_EPOCH)).sync(false)
}

/// A line of `/proc/self/status`, in KiB.
fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

const DIRECTORY: &str = "EMULATOR_MEMORY_DIRECTORY";

fn config() -> CollectionConfig {
    CollectionConfig::new("/pk").retention(Duration::from_hours(1))
}

/// Writes a journal and has a process of its own read it: here the allocator has room left from
/// writing, which would hide what reading takes.
fn measure(documents: u64) {
    const BODY: usize = 400;
    let dir = tempfile::tempdir().unwrap();
    {
        let emulator = Emulator::open(dir.path(), options()).unwrap();
        let collection = emulator.create_collection("c", config()).unwrap();
        let text = "x".repeat(BODY);
        for group in 0..documents / 1000 {
            let write = |at| {
                let id = group * 1000 + at;
                let body = format!(r#"{{"id":"{id}","pk":"{}","text":"{text}"}}"#, id % 997);
                Write::Upsert(body.into())
            };
            collection.write_many((0..1000).map(write)).unwrap();
        }
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "reader", "--ignored", "--nocapture"])
        .env(DIRECTORY, dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&child.stderr)
    );
    let line = text.lines().find(|line| line.contains("documents:"));
    println!("{}", line.unwrap());
}

#[test]
#[ignore = "the other process of the tests below"]
fn reader() {
    let Ok(dir) = std::env::var(DIRECTORY) else {
        return;
    };
    let closed = status("VmRSS:");
    let emulator = Emulator::open(Path::new(&dir), options()).unwrap();
    let collection = emulator.create_collection("c", config()).unwrap();
    let documents = collection.count();
    let index = (status("VmRSS:") - closed) * 1024 / documents;

    // "5" sets the peak back to what is in use now.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    let (mut pages, mut bytes) = (0, 0);
    for mode in [Mode::LatestVersion, Mode::AllVersions] {
        for after in (0..documents).step_by(usize::try_from(documents / 500).unwrap()) {
            let page = collection
                .read_feed(&FeedRequest {
                    min: String::new(),
                    max: "FF".to_owned(),
                    mode,
                    from: From::After(after),
                    max_items: 100,
                })
                .unwrap();
            assert_eq!(page.items.len(), 100);
            assert_eq!(page.items[0].lsn, after + 1);
            pages += 1;
            bytes += page
                .items
                .iter()
                .filter_map(|item| item.current.as_ref())
                .map(Bytes::len)
                .sum::<usize>();
        }
    }
    let peak = status("VmHWM:").saturating_sub(before);
    println!(
        "{documents} documents: {pages} pages of {} KiB raised the peak by {peak} KiB; the index holds \
         {index} bytes for a document and its retained change",
        bytes / pages / 1024
    );
    // All pages together are fifty times that.
    assert!(bytes / 1024 > 50_000 && peak < 1024, "{peak} KiB");
    assert!(index < 600, "{index} bytes");
}

#[test]
fn a_page_of_a_large_collection_costs_a_page() {
    measure(200_000);
}

#[test]
#[ignore = "a million documents take a while without optimisation"]
fn a_page_of_a_million_documents_costs_a_page() {
    measure(1_000_000);
}
