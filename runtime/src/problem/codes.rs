//! The stable codes, and what each means: the book's table is made from this list.

use std::fmt::Write as _;

macro_rules! codes {
    ($($name:ident = $code:literal: $about:literal,)*) => {
        $(#[doc = $about] pub const $name: &str = $code;)*

        /// All codes with what they mean.
        pub const ALL: &[(&str, &str)] = &[$(($code, $about),)*];
    };
}

codes! {
    // Declarations.
    NO_PROJECTION = "no-projection": "No projection is linked into the program. Name the crates that declare them in `main!` or `link!`.",
    DUPLICATE_PROJECTION = "duplicate-projection": "Several projections have one name; all places are named. Checkpoints are filed under the name, so it must be unique.",
    EMPTY_NAME = "empty-name": "A projection has an empty name.",
    MISSING_STATE = "missing-state": "A hook takes `State<T>`, and the program's set-up does not give a `T`.",
    WRONG_DATABASE = "wrong-database": "A hook takes the native transaction of one database, and the store is another.",
    START_NOT_POSSIBLE = "start-not-possible": "An all-versions projection is asked to start at the beginning or at a time, which that feed does not have; or its rows would begin over documents that are there already.",
    NO_RETENTION = "no-retention": "An all-versions projection reads a collection without a retention window: such a feed delivers nothing at all.",
    INIT_FAILED = "init-failed": "A projection's `init` failed.",
    SETUP_FAILED = "setup-failed": "The program's own set-up failed.",
    DDL_FAILED = "ddl-failed": "A projection's DDL failed; it must be repeatable.",
    TABLE_MISMATCH = "table-mismatch": "A row projection's table is not as it is declared and cannot be changed under its rows, or is not the projection's own.",
    // Settings.
    BAD_CONFIG_FILE = "bad-config-file": "The settings file cannot be read or is no TOML.",
    UNKNOWN_SETTING = "unknown-setting": "A setting that does not exist, in the file or as a variable.",
    BAD_SETTING = "bad-setting": "A setting's value is not of the form that it must have.",
    NO_FEED = "no-feed": "No feed is configured: a projector that reads nothing would look healthy.",
    NO_STORE = "no-store": "No store is configured: without one every start would begin anew.",
    UNKNOWN_PROJECTION = "unknown-projection": "A setting or a flag names a projection that no linked crate declares.",
    UNKNOWN_COLLECTION = "unknown-collection": "A projection or a command names a collection that the settings do not have.",
    // Starting.
    ALREADY_RUNNING = "already-running": "Another process runs on the same store; it is named.",
    COLLECTION_MISSING = "collection-missing": "The collection does not exist, or was deleted.",
    COLLECTION_RECREATED = "collection-recreated": "The collection is not the one that the checkpoints belong to.",
    MODE_CHANGED = "mode-changed": "The projection's mode is not that of its checkpoints.",
    RANGES_UNCOVERED = "ranges-uncovered": "The checkpoints do not cover the key space: a defect, or a damaged store.",
    EXPECTATION_FAILED = "expectation-failed": "`check --expect` found other projections than it was told. The exit code is 3.",
    // The feed.
    FEED_UNAVAILABLE = "feed-unavailable": "The feed cannot be read now.",
    ACCESS_DENIED = "access-denied": "The account refuses who asks: no identity was found, the key is wrong, a role is missing, or a firewall stands before it.",
    RETENTION_EXCEEDED = "retention-exceeded": "The checkpoint is older than the retention window: changes were lost to this projection.",
    BEYOND_END = "beyond-end": "The checkpoint lies beyond the end of the feed: its journal was lost, shortened or replaced.",
    BAD_POSITION = "bad-position": "The checkpoint's position is not one of this feed.",
    RANGE_GONE = "range-gone": "A range was split, and the feed's list of ranges does not come to show what it was split into.",
    RANGES_MERGED = "ranges-merged": "Ranges were merged under an all-versions projection, whose feed cannot be read across a merge. In latest-version mode a merge is no problem.",
    // The emulator.
    JOURNAL_FAILED = "journal-failed": "The emulator's journal cannot be opened: it is corrupt (the offset is named), of another version, or may not be read.",
    EMULATOR_FAILED = "emulator-failed": "The emulator refused a request or could not be reached.",
    GATEWAY_FAILED = "gateway-failed": "The emulator's gateway cannot listen on its port.",
    BAD_DOCUMENT = "bad-document": "A document is no JSON, or one that the collection does not take; of a file, the line is named and nothing is written.",
    BAD_INPUT = "bad-input": "A file or an argument of a command cannot be read.",
    DEMO_FAILED = "demo-failed": "The program's demonstration data could not be written.",
    // The store.
    STORE_BUSY = "store-busy": "Another process holds the store.",
    STORE_READ_ONLY = "store-read-only": "The store can be read, not written.",
    STORE_SCHEMA = "store-schema": "The store's tables were made by a newer program.",
    STORE_CORRUPT = "store-corrupt": "The store holds a value that this program cannot read.",
    STORE_FAILED = "store-failed": "The store failed.",
    UNKNOWN_LETTER = "unknown-letter": "There is no dead letter of that number.",
    // Running.
    LEASE_LOST = "lease-lost": "Another owner took the lease.",
    GAVE_UP = "gave-up": "`run --once` gave up on a page that kept failing.",
    HOOK_BLOCKED = "hook-blocked": "A hook blocked its thread and could not be ended.",
    DATA_REMOVED = "data-removed": "The data directory was removed or replaced under the running program.",
    PUMP_PANICKED = "pump-panicked": "A part of the engine panicked: a defect.",
    RUNTIME_FAILED = "runtime-failed": "The process could not be set up: threads, signals, output.",
}

/// The table of all codes, as markdown.
pub fn reference() -> String {
    let mut table = String::from("| code | what it means |\n|---|---|\n");
    for (code, about) in ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{code}` | {about} |");
    }
    table
}
