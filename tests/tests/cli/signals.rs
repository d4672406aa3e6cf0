//! Ending a run, and living beside one.

use super::program::{Shelf, text};

#[test]
fn the_first_signal_finishes_what_is_in_hand() {
    for signal in ["INT", "TERM"] {
        let shelf = Shelf::new();
        let mut run = shelf.start(&["run"]);
        run.until("listening");
        run.signal(signal);
        let (code, prose) = run.end();
        assert_eq!(code, Some(0), "{prose}");
        assert!(prose.contains("finishing what is in hand"), "{prose}");
        // Everything is committed: a second run has nothing to do.
        let again = shelf.run(&["run", "--once"]);
        let prose = text(&again.stderr);
        assert!(prose.contains("\n0 changes applied"), "{prose}");
    }
}

#[test]
fn a_second_signal_ends_at_once_and_the_page_is_read_again() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let shelf = Shelf::new();
        shelf.good(&["run", "--once"]);
        let mut run = shelf.start(&["run"]);
        run.until("listening");
        let hang = r#"{"id": "hang", "room": "west", "copies": 1, "task": "hang"}"#;
        shelf.good(&["dev", "put", "shelf", hang]);
        run.until("hanging");
        run.signal(signal);
        run.until("finishing what is in hand");
        run.signal(signal);
        let (ended, prose) = run.end();
        assert_eq!(ended, Some(code), "{prose}");
        let lines = shelf.good(&["status", "--json"]);
        let behind = lines
            .lines()
            .filter(|line| line.contains(r#""projection":"books""#))
            .filter(|line| line.contains(r#""backlog":1,"#))
            .count();
        assert_eq!(behind, 1, "{lines}");
    }
}

/// Whoever serves the collections to SDKs serves them to the other commands too.
#[test]
fn documents_are_put_while_the_gateway_serves_them() {
    let shelf = Shelf::new();
    let mut serve = shelf.start(&["dev", "serve", "--port", "0"]);
    serve.until("account key");
    let book = r#"{"id": "a", "room": "west", "copies": 1}"#;
    shelf.good(&["dev", "put", "shelf", book]);
    serve.signal("TERM");
    let (code, prose) = serve.end();
    assert_eq!(code, Some(0), "{prose}");
    let prose = text(&shelf.run(&["run", "--once"]).stderr);
    assert!(prose.contains("\n1 change applied"), "{prose}");
}

/// A job that a signal ended has not done what it should: whoever started it must hear of it.
#[test]
fn a_job_that_is_stopped_before_its_end_says_so() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let shelf = Shelf::new();
        shelf.good(&["run", "--once"]);
        let hang = r#"{"id": "hang", "room": "west", "copies": 1, "task": "hang"}"#;
        shelf.good(&["dev", "put", "shelf", hang]);
        let mut run = shelf.start(&["run", "--once", "--drain", "50ms"]);
        run.until("hanging");
        run.signal(signal);
        let (ended, prose) = run.end();
        assert_eq!(ended, Some(code), "{prose}");
    }
}

#[test]
fn a_stop_waits_no_longer_than_the_drain() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let mut run = shelf.start(&["run", "--drain", "50ms"]);
    run.until("listening");
    let hang = r#"{"id": "hang", "room": "west", "copies": 1, "task": "hang"}"#;
    shelf.good(&["dev", "put", "shelf", hang]);
    run.until("hanging");
    run.signal("TERM");
    let (code, prose) = run.end();
    assert_eq!(code, Some(0), "{prose}");
}

#[test]
fn a_second_run_is_refused_and_the_first_is_named() {
    let shelf = Shelf::new();
    let mut run = shelf.start(&["run"]);
    run.until("listening");
    let prose = shelf.bad(&["run"], 1);
    assert!(prose.starts_with("error[already-running]: "), "{prose}");
    assert!(prose.contains("(process "), "{prose}");
    // After a `kill -9` nothing stands in the way.
    run.signal("KILL");
    run.end();
    shelf.good(&["run", "--once"]);
}

#[test]
fn documents_are_written_and_the_status_is_read_while_it_runs() {
    let shelf = Shelf::new();
    let mut run = shelf.start(&["run"]);
    run.until("listening");
    let file = shelf.path().join("books.jsonl");
    std::fs::write(&file, "{\"id\":\"a\",\"room\":\"west\",\"copies\":1}\n").unwrap();
    shelf.good(&["dev", "load", "shelf", "books.jsonl"]);
    let book = r#"{"id": "b", "room": "west", "copies": 1}"#;
    shelf.good(&["dev", "put", "shelf", book]);
    shelf.good(&["dev", "delete", "shelf", "a", "--key", "\"west\""]);
    let prose = shelf.bad(&["dev", "delete", "shelf", "a", "--key", "west"], 1);
    assert!(prose.starts_with("error[bad-document]: "), "{prose}");
    let lines = shelf.good(&["status", "--json"]);
    assert!(!lines.contains(r#""instance":null"#), "{lines}");
    assert!(lines.contains(r#""backlog":"#), "{lines}");
    let check = shelf.good(&["check"]);
    assert_eq!(check, "ok: 2 projections\n");
    run.signal("INT");
    assert_eq!(run.end().0, Some(0));
}

/// Whoever removes the data directory under a program must not find it still "listening".
#[test]
fn a_data_directory_that_is_removed_ends_the_run() {
    let shelf = Shelf::new();
    let mut run = shelf.start(&["run"]);
    run.until("listening");
    std::fs::remove_dir_all(shelf.path().join(".projector")).unwrap();
    let (code, prose) = run.end();
    assert_eq!(code, Some(1), "{prose}");
    assert!(prose.contains("error[data-removed]: "), "{prose}");
    shelf.good(&["run", "--once"]);
}

/// What a page failed with is still to be mended when the program has ended.
#[test]
fn the_status_tells_after_the_end_what_it_failed_with() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let book = r#"{"id": "f", "room": "west", "copies": 1, "task": "fail"}"#;
    shelf.good(&["dev", "put", "shelf", book]);
    for arguments in [&["run", "--once"][..], &["run"]] {
        let mut run = shelf.start(arguments);
        if arguments.len() == 1 {
            run.until("listening");
            // It fails at once, and says so where others look.
            while !shelf.good(&["status"]).contains("is on loan") {}
            run.signal("TERM");
        }
        run.end();
        let lines = shelf.good(&["status", "--json"]);
        let line = lines.lines().find(|line| line.contains("is on loan"));
        let line = line.unwrap_or_else(|| panic!("{lines}"));
        assert!(line.contains(r#""backlog":1,"#), "{line}");
        assert!(line.contains("hook `put` on document `f`"), "{line}");
    }
}

/// A demonstration that was cut off is not taken for a whole one.
#[test]
fn an_interrupted_demonstration_is_said_to_be_incomplete() {
    let shelf = Shelf::new();
    shelf.good(&["run", "--once"]);
    let marker = shelf.path().join(".projector/demo.unfinished");
    assert!(!marker.exists());
    std::fs::write(&marker, "").unwrap();
    let prose = text(&shelf.run(&["run", "--once"]).stderr);
    assert!(
        prose.contains("the demonstration was interrupted"),
        "{prose}"
    );
}
