//! The settings that exist. Reading, `config show` and the book's table all come from this list.

use serde_json::Value;

/// One setting.
#[derive(Debug)]
pub(super) struct Key {
    /// Its name. `*` is a name that the user chooses; `app.**` is all that lies below.
    pub(super) name: &'static str,
    /// What holds where nobody says anything, as settings write it.
    pub(super) default: Option<&'static str>,
    /// What values look like.
    pub(super) form: &'static str,
    /// What it does, for the book.
    pub(super) about: &'static str,
}

const fn key(
    name: &'static str,
    default: Option<&'static str>,
    form: &'static str,
    about: &'static str,
) -> Key {
    Key {
        name,
        default,
        form,
        about,
    }
}

/// All settings, in the order in which they are shown.
pub(super) static KEYS: &[Key] = &[
    key(
        "feed",
        None,
        "`emulator`, `cosmos`",
        "Where changes come from: the collections of the local emulator, or containers in Azure Cosmos DB. Must be set.",
    ),
    key(
        "store",
        None,
        "`sqlite`, `postgres`, `memory`",
        "Where checkpoints, letters and read models live. Must be set. `memory` loses everything at the end of the process: for tests.",
    ),
    key(
        "data_dir",
        Some(".projector"),
        "a folder",
        "Where local data lives: the emulator's journal, `projector.db` and `coordination.db`. A relative path begins at the working directory.",
    ),
    key(
        "postgres.url",
        None,
        "a URL",
        "The database of `store = \"postgres\"`: `postgres://user:password@host/database`; `?sslmode=verify-full` for one elsewhere, `?options=-csearch_path%3Dmine` for a schema of it. Better given as a variable than in a file.",
    ),
    key(
        "postgres.connections",
        Some("8"),
        "a number",
        "How many connections pages have together. A few more are for leases, heartbeats and what people ask.",
    ),
    key(
        "instance",
        None,
        "a name",
        "The name of this instance, unique among those that share a store. Unset: a new one for each process.",
    ),
    key(
        "poll",
        Some("5s"),
        "a duration",
        "How long an idle pump waits before it asks the feed again. A feed that can tell wakes it earlier.",
    ),
    key(
        "hook_timeout",
        Some("30s"),
        "a duration",
        "How long one hook call may take; past it the page is rolled back and read again.",
    ),
    key(
        "drain",
        Some("25s"),
        "a duration",
        "How long a stop waits for pages in flight; what is not done by then is rolled back. `run --drain` overrides it.",
    ),
    key(
        "backoff_max",
        Some("1m"),
        "a duration",
        "The longest pause between two attempts at a page that fails.",
    ),
    key(
        "once_attempts",
        Some("5"),
        "a number",
        "After how many failures in a row, of a hook, the store or the feed, `run --once` gives up and fails.",
    ),
    key(
        "log",
        Some("info,sqlx=warn"),
        "a filter",
        "Which log lines to write to stderr, as `level` or `target=level,…`. `--log` overrides it.",
    ),
    key(
        "log_format",
        Some("auto"),
        "`auto`, `pretty`, `json`",
        "How log lines look. `auto`: for people on a terminal, JSON elsewhere.",
    ),
    key(
        "schema",
        Some("apply"),
        "`apply`, `check`, `off`",
        "The tables of row projections at start-up. `apply`: they are made, and columns that may be `NULL` are added; `check`: any difference is an error; `off`: nobody looks.",
    ),
    key(
        "accounts.*.endpoint",
        None,
        "a URL",
        "The address of an account in Azure Cosmos DB: `https://shop.documents.azure.com`. `http` is taken for this machine only.",
    ),
    key(
        "accounts.*.auth",
        None,
        "`identity`, `managed-identity`, `workload-identity`, `developer`, `key`",
        "How to sign in. `developer`: as whoever signed in to `az` or `azd`. `identity`: by the first of these three that the environment offers. Unset: `key` where one is set, else `identity`.",
    ),
    key(
        "accounts.*.key",
        None,
        "a key",
        "The account's key. Better given as a variable than in a file.",
    ),
    key(
        "accounts.*.connection_string",
        None,
        "`AccountEndpoint=…;AccountKey=…`",
        "Endpoint and key in one. Better given as a variable than in a file.",
    ),
    key(
        "accounts.*.client_id",
        None,
        "an id",
        "The client id of a managed or workload identity, where there are several.",
    ),
    key(
        "accounts.*.tenant_id",
        None,
        "an id",
        "The tenant of a workload identity.",
    ),
    key(
        "accounts.*.regions",
        None,
        "names",
        "The regions to read from, the nearest first: `[\"West Europe\", \"North Europe\"]`. Unset: as the account orders them.",
    ),
    key(
        "collections.*.account",
        None,
        "an account",
        "The account that the collection lies in, by its name in settings. May be left out where there is one. This and the next two are for `feed = \"cosmos\"`, those after them for the emulator.",
    ),
    key(
        "collections.*.database",
        None,
        "a database",
        "The database that the collection lies in. Must be set for each collection of `feed = \"cosmos\"`.",
    ),
    key(
        "collections.*.container",
        None,
        "a container",
        "The container. Unset: named as the collection.",
    ),
    key(
        "collections.*.partition_key",
        None,
        "a path, or a list of up to 3",
        "The path of the partition key: `/customerId`, `/address/country`. A list, where it is hierarchical. Must be set for each collection of the emulator.",
    ),
    key(
        "collections.*.ranges",
        Some("1"),
        "a number",
        "The number of physical ranges, fixed when the collection is made.",
    ),
    key(
        "collections.*.retention",
        None,
        "a duration",
        "How far back the all-versions feed reaches. Unset: there is no such feed, and projections that need it do not start.",
    ),
    key(
        "collections.*.ttl",
        None,
        "a duration, or `-1`",
        "The time to live of documents that do not say. `-1`: only what a document says counts. Unset: what documents say is ignored.",
    ),
    key(
        "collections.*.previous_images",
        Some("false"),
        "`true`, `false`",
        "Whether the all-versions feed carries the version before a change.",
    ),
    key(
        "projections.*.start",
        None,
        "`now`, `beginning`, a time",
        "Where the projection begins without a checkpoint; overrules its attribute.",
    ),
    key(
        "projections.*.batch",
        None,
        "a number",
        "How many changes a page asks for; overrules its attribute.",
    ),
    key(
        "app.**",
        None,
        "anything",
        "The program's own settings, for `app.settings(\"prices\")` in its set-up: `[app.prices]`. Names with `secret`, `password`, `token`, `key` or `connection` in them are masked.",
    ),
];

impl Key {
    /// The setting that a name belongs to.
    pub(super) fn of(name: &[String]) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.matches(name))
    }

    fn matches(&self, name: &[String]) -> bool {
        let mut parts = name.iter();
        for pattern in self.name.split('.') {
            match (pattern, parts.next()) {
                ("**", Some(_)) => return true,
                ("*", Some(_)) => {}
                (pattern, Some(part)) if *part == pattern => {}
                _ => return false,
            }
        }
        parts.next().is_none()
    }

    /// The environment variable.
    pub(super) fn variable(&self) -> String {
        let upper = self.name.to_uppercase().replace('.', "__");
        format!(
            "PROJECTOR_{}",
            upper.replace("**", "…").replace('*', "NAME")
        )
    }
}

/// A value as an error may show it. What was written below `accounts` may be a key in the wrong place, so that only what
/// cannot be one is shown.
pub(super) fn shown(name: &[String], value: &Value) -> Value {
    let harmless = |text: &str| {
        let longest = if text.contains("://") { 128 } else { 40 };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:/[] ".contains(c);
        text.len() <= longest && text.chars().all(plain)
    };
    let is_hidden = match value {
        _ if is_secret(name) => true,
        _ if name[0] != "accounts" => false,
        Value::String(text) => !harmless(text),
        Value::Array(_) | Value::Object(_) => true,
        _ => false,
    };
    if is_hidden {
        Value::from("********")
    } else {
        value.clone()
    }
}

/// Whether a value of this name must not be shown.
pub(super) fn is_secret(name: &[String]) -> bool {
    const WORDS: [&str; 5] = ["secret", "password", "token", "key", "connection"];
    match name {
        [first, last] if first == "postgres" => last == "url",
        [first, .., last] if first == "accounts" => {
            matches!(&last[..], "key" | "connection_string")
        }
        [first, ..] if first == "app" => name
            .iter()
            .any(|part| WORDS.iter().any(|word| part.contains(word))),
        _ => false,
    }
}

/// A name as it is compared: lower case, `-` is `_`.
pub(super) fn normal(part: &str) -> String {
    part.to_lowercase().replace('-', "_")
}

/// The known name nearest to `name`, if one is near.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&normal(name), &normal(known)), known))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}
