//! The program on the feed of Azure Cosmos DB, against a gateway of the emulator: it projects, and what goes wrong is told
//! as the user reads it.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use projectionist_emulator::gateway::{Gateway, GatewayOptions, MovableClock, WELL_KNOWN_KEY};
use projectionist_emulator::{Collection, CollectionConfig, Emulator, Options, PartitionKey};
use projectionist_runtime::clock::{Clock as _, SystemClock};
use serde_json::json;

use super::program::{Shelf, text};

const DAY: Duration = Duration::from_hours(24);

/// A gateway with a container, and a folder with the settings for it.
struct World {
    shelf: Shelf,
    emulator: Emulator,
    gateway: Gateway,
    clock: MovableClock,
    _runtime: tokio::runtime::Runtime,
}

impl World {
    fn new(setup: CollectionConfig) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let clock = MovableClock::default();
        let now = clock.over(Arc::new(|| SystemClock.now()));
        let emulator = Emulator::in_memory(Options::new(now).seed(7));
        emulator.create_database("library").unwrap();
        let gateway = GatewayOptions::new(0);
        let gateway = runtime
            .block_on(Gateway::start(emulator.clone(), gateway))
            .unwrap();
        let world = Self {
            shelf: Shelf::new(),
            emulator,
            gateway,
            clock,
            _runtime: runtime,
        };
        world.make(setup);
        world.settings("books-2024", WELL_KNOWN_KEY, world.gateway.port());
        world
    }

    fn make(&self, setup: CollectionConfig) {
        self.emulator
            .create_in("library", "books-2024", setup, serde_json::Map::new())
            .unwrap();
    }

    fn settings(&self, container: &str, key: &str, port: u16) {
        let settings = format!(
            "feed = \"cosmos\"\nstore = \"sqlite\"\npoll = \"200ms\"\n\n[accounts.town]\nendpoint = \"http://127.0.0.1:{port}/\"\nkey = \"{key}\"\n\n[collections.shelf]\ndatabase = \"library\"\ncontainer = \"{container}\"\n"
        );
        fs::write(self.shelf.path().join("projector.toml"), settings).unwrap();
    }

    fn collection(&self) -> Arc<Collection> {
        self.emulator
            .collection_in("library", "books-2024")
            .unwrap()
    }

    fn put(&self, id: &str, copies: i64) {
        let body = json!({"id": id, "room": "east", "copies": copies});
        self.collection().upsert(body.to_string()).unwrap();
    }

    fn delete(&self, id: &str) {
        let key = PartitionKey::string("east");
        self.collection().delete(id, &key).unwrap();
    }

    /// Waits for what the store says to become true.
    fn until(&self, is_so: impl Fn(&str) -> bool) {
        loop {
            let status = self.shelf.good(&["status", "--json"]);
            if is_so(&status) {
                return;
            }
        }
    }
}

fn room() -> CollectionConfig {
    CollectionConfig::new("/room").ranges(2)
}

#[test]
fn it_projects_and_goes_on_where_it_was() {
    let world = World::new(room().retention(DAY));
    let shelf = &world.shelf;
    world.put("emma", 1);
    assert!(shelf.good(&["check"]).starts_with("ok: "));
    assert!(
        !shelf.path().join(".projector").exists(),
        "a check leaves no trace"
    );
    let first = text(&shelf.run(&["run", "--once"]).stderr);
    // `books` begins at the beginning, `trail` now.
    assert!(
        first.contains("\n1 change applied, 0 dead letters\n"),
        "{first}"
    );
    assert!(!first.contains("demonstration"), "{first}");
    world.put("ulysses", 2);
    world.put("ulysses", 3);
    world.delete("emma");
    let range = world.collection().locate(&PartitionKey::string("east")).0;
    world.collection().split(&range.id).unwrap();
    world.put("dracula", 4);
    let second = text(&shelf.run(&["run", "--once"]).stderr);
    // Two for `books`, of which one version was superseded, four for `trail`.
    assert!(
        second.contains("\n6 changes applied, 0 dead letters\n"),
        "{second}"
    );
    let third = text(&shelf.run(&["run", "--once"]).stderr);
    assert!(
        third.contains("\n0 changes applied, 0 dead letters\n"),
        "{third}"
    );
    let status = shelf.good(&["status", "--json"]);
    assert!(
        status.contains("\"collection\":\"town/library/books-2024\""),
        "{status}"
    );
    assert!(status.contains("\"backlog\":0"), "{status}");
    assert!(!shelf.path().join(".projector/emulator.journal").exists());
}

#[test]
fn a_document_that_does_not_decode_is_a_letter_with_its_body() {
    let world = World::new(room().retention(DAY));
    world.put("emma", 1);
    let odd = json!({"id": "odd", "room": "east", "copies": "many"});
    world.collection().upsert(odd.to_string()).unwrap();
    world.put("ulysses", 2);
    let prose = text(&world.shelf.run(&["run", "--once"]).stderr);
    assert!(
        prose.contains("\n2 changes applied, 1 dead letter\n"),
        "{prose}"
    );
    let letter = world.shelf.good(&["dead-letters", "show", "1"]);
    assert!(
        letter.contains("many") && letter.contains("odd"),
        "{letter}"
    );
}

#[test]
fn a_container_that_is_not_there_is_named_before_anything_is_read() {
    let world = World::new(room().retention(DAY));
    world.settings("books", WELL_KNOWN_KEY, world.gateway.port());
    for command in [&["run", "--once"][..], &["check"]] {
        let prose = world.shelf.bad(command, 1);
        assert!(prose.starts_with("error[collection-missing]: "), "{prose}");
        assert!(
            prose.contains("there is no container `town/library/books`"),
            "{prose}"
        );
        assert!(
            prose.contains("correct `account`, `database` and `container`"),
            "{prose}"
        );
    }
    assert!(!world.shelf.path().join(".projector/projector.db").exists());
}

#[test]
fn a_wrong_key_is_refused_and_never_shown() {
    let world = World::new(room().retention(DAY));
    let key = "d3JvbmcgYnV0IHNlY3JldA==";
    world.settings("books-2024", key, world.gateway.port());
    let prose = world.shelf.bad(&["check"], 1);
    assert!(prose.starts_with("error[access-denied]: "), "{prose}");
    assert!(
        prose.contains("account `town` does not let this program read collection `shelf`"),
        "{prose}"
    );
    assert!(
        prose.contains("/readMetadata") && prose.contains("/readChangeFeed"),
        "{prose}"
    );
    let shown = world.shelf.good(&["config", "show"]);
    assert!(
        shown.contains("accounts.town.key") && shown.contains("********"),
        "{shown}"
    );
    assert!(!prose.contains(key) && !shown.contains(key));
}

#[test]
fn an_identity_that_nobody_has_is_told_with_what_was_tried() {
    let world = World::new(room().retention(DAY));
    let path = world.shelf.path().join("projector.toml");
    let settings = fs::read_to_string(&path).unwrap();
    let key = format!("key = \"{WELL_KNOWN_KEY}\"");
    fs::write(&path, settings.replace(&key, "auth = \"developer\"")).unwrap();
    // Without the tools nobody is signed in, whoever runs this test.
    let mut check = world.shelf.command(&["check"]);
    let output = check.env("PATH", "").output().unwrap();
    let prose = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{prose}");
    assert!(prose.starts_with("error[access-denied]: "), "{prose}");
    assert!(prose.contains("developer: "), "{prose}");
}

#[test]
fn an_account_that_does_not_answer_is_named() {
    let world = World::new(room().retention(DAY));
    // Nothing listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    world.settings("books-2024", WELL_KNOWN_KEY, port);
    let prose = world.shelf.bad(&["check"], 1);
    assert!(prose.starts_with("error[feed-unavailable]: "), "{prose}");
    assert!(
        prose.contains("collection `shelf` cannot be read now"),
        "{prose}"
    );
}

#[test]
fn all_versions_of_a_container_without_history_are_refused() {
    let world = World::new(room());
    for command in [&["run", "--once"][..], &["check"]] {
        let prose = world.shelf.bad(command, 1);
        assert!(
            prose.starts_with("error[no-retention]: projection `trail`"),
            "{prose}"
        );
        assert!(prose.contains("continuous backup"), "{prose}");
    }
}

#[test]
fn a_container_recreated_while_nobody_looked_is_refused() {
    let world = World::new(room().retention(DAY));
    world.put("emma", 1);
    world.shelf.good(&["run", "--once"]);
    world.emulator.delete_in("library", "books-2024").unwrap();
    world.make(room().retention(DAY));
    for command in [&["run", "--once"][..], &["check"]] {
        let prose = world.shelf.bad(command, 1);
        assert!(prose.contains("error[collection-recreated]: "), "{prose}");
        assert!(prose.contains("its resource id is"), "{prose}");
    }
}

#[test]
fn a_container_that_goes_under_the_running_program_ends_it_and_it_is_told_how() {
    for recreated in [false, true] {
        let world = World::new(room().retention(DAY));
        world.put("emma", 1);
        let mut running = world.shelf.start(&["run"]);
        running.until("listening for changes");
        world.until(|status| status.contains("\"backlog\":0"));
        world.emulator.delete_in("library", "books-2024").unwrap();
        if recreated {
            world.make(room().retention(DAY));
        }
        let (code, prose) = running.end();
        assert_eq!(code, Some(1), "{prose}");
        let (is, other) = if recreated {
            ("error[collection-recreated]", "error[collection-missing]")
        } else {
            ("error[collection-missing]", "error[collection-recreated]")
        };
        assert!(prose.contains(is) && !prose.contains(other), "{prose}");
    }
}

#[test]
fn a_checkpoint_older_than_the_window_is_the_end_of_its_projection() {
    let world = World::new(room().retention(DAY));
    world.put("emma", 1);
    world.shelf.good(&["run", "--once"]);
    world.put("ulysses", 2);
    world.clock.advance(2 * 24 * 3600);
    world.put("dracula", 3);
    let prose = world.shelf.bad(&["run", "--once"], 1);
    assert!(
        prose.contains("error[retention-exceeded]: projection `trail`"),
        "{prose}"
    );
    assert!(
        prose.contains("older than the retention window of collection `shelf`"),
        "{prose}"
    );
    assert!(!prose.contains("projection `books` cannot"), "{prose}");
}

#[test]
fn a_merge_is_the_end_of_a_projection_of_all_versions_alone() {
    let world = World::new(room().retention(DAY));
    world.put("emma", 1);
    world.shelf.good(&["run", "--once"]);
    let ids: Vec<_> = world
        .collection()
        .ranges()
        .into_iter()
        .map(|range| range.id)
        .collect();
    world.collection().merge([&ids[0], &ids[1]]).unwrap();
    world.put("ulysses", 2);
    let prose = world.shelf.bad(&["run", "--once"], 1);
    assert!(
        prose.contains("error[ranges-merged]: projection `trail`"),
        "{prose}"
    );
    assert!(!prose.contains("projection `books` cannot"), "{prose}");
}

#[test]
fn another_mode_is_refused_on_this_feed_too() {
    let world = World::new(room().retention(DAY));
    world.shelf.good(&["run", "--once"]);
    let prose = world
        .shelf
        .bad_of(env!("CARGO_BIN_EXE_changed"), &["check"]);
    assert!(
        prose.contains("error[mode-changed]: projection `trail`"),
        "{prose}"
    );
}

#[test]
fn the_emulators_commands_say_whose_they_are() {
    let world = World::new(room().retention(DAY));
    let prose = world.shelf.bad(&["dev", "put", "shelf", "{}"], 1);
    assert!(
        prose.contains("writes to the collections of the emulator"),
        "{prose}"
    );
    assert!(!world.shelf.path().join(".projector").exists());
}
