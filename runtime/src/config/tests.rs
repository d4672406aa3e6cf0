use std::path::PathBuf;
use std::time::Duration;

use projectionist::projection::Start;
use projectionist::registry::Registry;
use serde_json::json;

use super::{Auth, Config, FeedKind, LogFormat, Origin, Place, Setting, Sources, StoreKind};
use crate::fixture;

fn registry() -> Registry {
    Registry::from_defs([&fixture::BILLING, &fixture::AUDIT]).unwrap()
}

fn sources(file: &str, env: &[(&str, &str)]) -> (Sources, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("projector.toml");
    std::fs::write(&path, file).unwrap();
    let sources = Sources {
        file: Some((path, Origin::Default)),
        env: env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        flags: Vec::new(),
    };
    (sources, folder)
}

fn load(file: &str, env: &[(&str, &str)]) -> Config {
    let (sources, _folder) = sources(file, env);
    Config::load(&sources, &registry()).unwrap()
}

/// The problems, with the folder left out of the file's name.
fn problems(file: &str, env: &[(&str, &str)]) -> Vec<String> {
    let (sources, folder) = sources(file, env);
    let prefix = format!("{}/", folder.path().display());
    let problems = Config::load(&sources, &registry()).unwrap_err();
    let texts = problems.0.iter();
    texts
        .map(|problem| format!("{problem} {}", problem.help).replace(&prefix, ""))
        .collect()
}

#[test]
fn without_sources_the_defaults_hold_and_neither_feed_nor_store_is_guessed() {
    let config = Config::load(&Sources::default(), &registry()).unwrap();
    assert_eq!((config.feed, config.store), (None, None));
    assert_eq!(config.data_dir, PathBuf::from(".projector"));
    assert_eq!(config.limits.drain, Duration::from_secs(25));
    assert_eq!(config.limits.poll, Duration::from_secs(5));
    assert_eq!(config.log_format, LogFormat::Auto);
    assert_eq!(config.origin("poll"), Origin::Default);
}

#[test]
fn a_file_sets_everything() {
    let config = load(
        r#"
feed = "emulator"
store = "sqlite"
data-dir = "elsewhere"
poll = "1m 30s"

[collections.store]
partition_key = "/customerId"
ranges = 4
retention = "7d"
ttl = "30d"
previous_images = true

[projections.billing]
start = "beginning"
batch = 50
"#,
        &[],
    );
    assert_eq!(config.feed, Some(FeedKind::Emulator));
    assert_eq!(config.store, Some(StoreKind::Sqlite));
    assert_eq!(config.data_dir, PathBuf::from("elsewhere"));
    assert_eq!(config.limits.poll, Duration::from_secs(90));
    let store = &config.collections["store"];
    assert_eq!(store.partition_key, ["/customerId"]);
    assert_eq!(store.ranges, 4);
    assert_eq!(store.retention, Some(Duration::from_hours(7 * 24)));
    assert_eq!(store.ttl, Some(30 * 24 * 3600));
    assert!(store.previous_images);
    let billing = &config.projections["billing"];
    let (start, origin) = billing.start.as_ref().unwrap();
    assert_eq!(*start, Start::Beginning);
    assert!(
        origin.to_string().ends_with("projector.toml:15"),
        "{origin}"
    );
    assert_eq!(billing.batch, Some(50));
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let (sources, _folder) = sources(
        "poll = \"1s\"\ndrain = \"1s\"\nhook_timeout = \"1s\"\n",
        &[("PROJECTOR_DRAIN", "2s"), ("PROJECTOR_HOOK_TIMEOUT", "2s")],
    );
    let sources = sources.flag("drain", Some("3s"), "--drain");
    let config = Config::load(&sources, &registry()).unwrap();
    let seconds = |duration: Duration| duration.as_secs();
    assert_eq!(seconds(config.limits.poll), 1);
    assert_eq!(seconds(config.limits.hook), 2);
    assert_eq!(seconds(config.limits.drain), 3);
    assert_eq!(
        config.origin("hook_timeout"),
        Origin::Env("PROJECTOR_HOOK_TIMEOUT".into())
    );
    assert_eq!(config.origin("drain"), Origin::Flag("--drain"));
}

#[test]
fn variables_find_names_whatever_their_case_and_dashes() {
    let config = load(
        "[collections.sales-orders]\npartition_key = \"/a\"\n",
        &[
            ("PROJECTOR_COLLECTIONS__SALES_ORDERS__RANGES", "3"),
            ("projector_collections__new__partition_key", "/b, /c"),
            (
                "PROJECTOR_PROJECTIONS__BILLING__START",
                "2026-12-01T00:00:00Z",
            ),
        ],
    );
    assert_eq!(config.collections["sales-orders"].ranges, 3);
    assert_eq!(config.collections["new"].partition_key, ["/b", "/c"]);
    let (start, _) = config.projections["billing"].start.clone().unwrap();
    assert_eq!(start, Start::At(1_796_083_200));
}

#[test]
fn all_mistakes_come_at_once_with_name_and_origin() {
    let found = problems(
        "pol = \"5s\"\ndrain = \"soon\"\n[collections.store]\nranges = 0\n[projections.biling]\nbatch = 1\n",
        &[
            ("PROJECTOR_HOK_TIMEOUT", "5s"),
            ("PROJECTOR_LOG_FORMAT", "xml"),
        ],
    );
    assert_eq!(
        found,
        [
            "there is no setting `pol` (projector.toml:1) [unknown-setting] Did you mean `poll`?",
            "there is no setting `hok_timeout` (environment PROJECTOR_HOK_TIMEOUT) [unknown-setting] Did you mean `hook_timeout`?",
            "`drain = \"soon\"` (projector.toml:2): expected a duration such as `500ms`, `5s`, `1m 30s`, `7d` [bad-setting] Correct it, or leave it out: the default is `25s`.",
            "`log_format = \"xml\"` (environment PROJECTOR_LOG_FORMAT): expected `auto`, `pretty` or `json` [bad-setting] Correct it, or leave it out: the default is `auto`.",
            "collection `store` has no partition key (projector.toml:4) [bad-setting] Add `partition_key = \"/…\"` under `[collections.store]`.",
            "`collections.store.ranges = 0` (projector.toml:4): expected a whole number from 1 on [bad-setting] Correct it, or leave it out: the default is `1`.",
            "there is no projection `biling` (projector.toml:6) [unknown-projection] Did you mean `billing`? There are: audit, billing.",
        ]
    );
}

#[test]
fn unknown_settings_below_a_name_are_corrected_with_that_name() {
    let found = problems(
        "[collections.store]\npartition_key = \"/a\"\nretension = \"7d\"\n",
        &[],
    );
    assert_eq!(
        found,
        [
            "there is no setting `collections.store.retension` (projector.toml:3) [unknown-setting] Did you mean `collections.store.retention`?"
        ]
    );
}

#[test]
fn broken_toml_names_the_line() {
    let found = problems("feed = \"emulator\"\nstore = sqlite\"\n", &[]);
    assert!(found[0].starts_with("projector.toml:2: "), "{found:?}");
    assert!(found[0].contains("[bad-config-file]"), "{found:?}");
}

#[test]
fn a_file_that_was_asked_for_must_exist() {
    let sources = Sources {
        file: Some(("/nowhere/p.toml".into(), Origin::Flag("--config"))),
        ..Sources::default()
    };
    let problems = Config::load(&sources, &registry()).unwrap_err();
    assert_eq!(
        problems.to_string(),
        "the settings file /nowhere/p.toml cannot be read (flag --config) [bad-config-file]"
    );
}

#[test]
fn every_wrong_form_is_refused() {
    for line in [
        "poll = 5",
        "poll = \"0s\"",
        "poll = \"-1s\"",
        "poll = \"1y\"",
        "feed = \"kafka\"",
        "store = \"\"",
        "log = \"a=b=c\"",
        "instance = \" \"",
        "once_attempts = 1.5",
        "collections = 3",
        "collections.a = 3",
        "collections.a.partition_key = \"id\"",
        "collections.a.partition_key = []",
        "collections.a.partition_key = [\"/a\", \"b\"]",
        "collections.a.partition_key = [\"/a\", \"/b\", \"/c\", \"/d\"]",
        "collections.a = { partition_key = \"/a\", ttl = \"0s\" }",
        "collections.a = { partition_key = \"/a\", previous_images = 1 }",
        "collections.a = {}",
        "projections.billing.start = \"yesterday\"",
        "projections.billing.batch = -1",
        "[poll]\nfast = true",
    ] {
        let found = problems(line, &[]);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(found[0].contains("projector.toml:"), "{line}: {found:?}");
    }
}

#[test]
fn the_programs_own_settings_are_typed_and_masked() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Prices {
        plan: String,
        cents: u32,
        limits: Limits,
        api_key: String,
    }
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Limits {
        most: u8,
    }
    let config = load(
        "[app.prices]\nplan = \"pro\"\napi_key = \"hush\"\n[app.prices.limits]\nmost = 9\n",
        &[("PROJECTOR_APP__PRICES__CENTS", "12")],
    );
    assert_eq!(
        config.user::<Prices>("prices").unwrap(),
        Prices {
            plan: "pro".into(),
            cents: 12,
            limits: Limits { most: 9 },
            api_key: "hush".into()
        }
    );
    let shown: Vec<_> = config
        .settings
        .iter()
        .filter(|setting| setting.name.starts_with("app."))
        .map(|setting| (setting.name.as_str(), setting.shown()))
        .collect();
    assert_eq!(
        shown,
        [
            ("app.prices.api_key", json!("********")),
            ("app.prices.cents", json!("12")),
            ("app.prices.limits.most", json!(9)),
            ("app.prices.plan", json!("pro")),
        ]
    );
    let error = config.user::<Limits>("prices").unwrap_err().to_string();
    assert!(error.contains("`[app.prices]`"), "{error}");
    assert!(error.contains("missing field `most`"), "{error}");
    assert!(!error.contains("hush"), "{error}");
}

const KEY: &str = "c2VjcmV0IGtleQ==";

#[test]
fn accounts_and_places_are_read() {
    let config = load(
        r#"
feed = "cosmos"
store = "sqlite"

[accounts.main]
endpoint = "https://shop.documents.azure.com:443/"
regions = ["West Europe", "North Europe"]

[accounts.old-Shop]
endpoint = "http://localhost:8081"
auth = "key"

[collections.store]
account = "main"
database = "shop"

[collections.users]
account = "old-Shop"
database = "crm"
container = "people"
partition_key = "/id"
"#,
        &[("PROJECTOR_ACCOUNTS__OLD_SHOP__KEY", KEY)],
    );
    assert_eq!(config.feed, Some(FeedKind::Cosmos));
    let main = &config.accounts["main"];
    assert_eq!(main.auth, Auth::Identity);
    assert_eq!(main.regions, ["West Europe", "North Europe"]);
    let old = &config.accounts["old-Shop"];
    assert_eq!(old.auth, Auth::Key);
    assert_eq!(old.key.as_ref().unwrap().reveal(), KEY);
    let place = |account: &str, database: &str, container: &str| {
        Some(Place {
            account: account.to_owned(),
            database: database.to_owned(),
            container: container.to_owned(),
        })
    };
    assert_eq!(
        config.collections["store"].place,
        place("main", "shop", "store")
    );
    assert_eq!(
        config.collections["users"].place,
        place("old-Shop", "crm", "people")
    );
    // Neither what people are shown nor what programmers print has the key.
    let shown = format!(
        "{:?}",
        config
            .settings
            .iter()
            .map(Setting::shown)
            .collect::<Vec<_>>()
    );
    assert!(
        !shown.contains(KEY) && shown.contains("********"),
        "{shown}"
    );
    assert!(!format!("{:?}", config.accounts).contains(KEY));
}

#[test]
fn a_connection_string_is_endpoint_and_key_and_one_account_need_not_be_named() {
    let config = load(
        "feed = \"cosmos\"\n[collections.store]\ndatabase = \"shop\"\n",
        &[(
            "PROJECTOR_ACCOUNTS__MAIN__CONNECTION_STRING",
            "AccountEndpoint=https://shop.documents.azure.com:443/;AccountKey=c2VjcmV0IGtleQ==;",
        )],
    );
    let main = &config.accounts["main"];
    assert_eq!(main.endpoint, "https://shop.documents.azure.com:443/");
    assert_eq!(main.auth, Auth::Key);
    assert_eq!(main.key.as_ref().unwrap().reveal(), KEY);
    assert_eq!(
        config.collections["store"].place.as_ref().unwrap().account,
        "main"
    );
}

#[test]
fn one_file_serves_both_feeds() {
    let file = "[accounts.main]\nauth = \"key\"\n[collections.store]\npartition_key = \"/a\"\n";
    let emulator = load(file, &[("PROJECTOR_FEED", "emulator")]);
    assert_eq!(emulator.collections["store"].place, None);
    // What only the other feed needs is asked for there.
    let found = problems(file, &[("PROJECTOR_FEED", "cosmos")]);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn mistakes_in_accounts_come_at_once_and_show_no_key() {
    let found = problems(
        r#"feed = "cosmos"
[accounts.main]
endpoint = "http://shop.documents.azure.com"
[accounts.other]
key = "not base64!"
auth = "identity"
endpont = "https://x"
[accounts.third]
endpoint = "https://third.documents.azure.com"
auth = "key"
[collections.a]
account = "mian"
database = "shop"
[collections.b]
database = ""
[collections.c]
account = "main"
"#,
        &[],
    );
    assert_eq!(
        found,
        [
            "there is no setting `accounts.other.endpont` (projector.toml:7) [unknown-setting] Did you mean `accounts.other.endpoint`?",
            "`accounts.main.endpoint = \"http://shop.documents.azure.com\"` (projector.toml:3): expected `https://…`: plain `http` is taken for this machine only [bad-setting] Correct it, or leave it out.",
            "`accounts.other.key = \"********\"` (projector.toml:5): expected a key as the portal shows it (base64) [bad-setting] Correct it, or leave it out.",
            "account `other` has a key, which `auth = \"identity\"` (projector.toml:6) does not use [bad-setting] Remove the key, or set `auth = \"key\"`.",
            "account `other` has no endpoint (projector.toml:6) [bad-setting] Add `endpoint = \"https://….documents.azure.com\"` under `[accounts.other]`.",
            "account `third` signs in by its key (projector.toml:10) and has none [bad-setting] Set the variable `PROJECTOR_ACCOUNTS__THIRD__KEY`; or set another `auth`.",
            "collection `a` lies in account `mian` (projector.toml:12), which the settings do not have [bad-setting] Did you mean `main`? There are: main, other, third.",
            "`collections.b.database = \"\"` (projector.toml:15): expected a text that is not empty [bad-setting] Correct it, or leave it out.",
            "collection `b` does not say in which account it lies (projector.toml:15) [bad-setting] Add `account = \"…\"` under `[collections.b]`. There are: main, other, third.",
            "collection `c` does not say in which database it lies (projector.toml:17) [bad-setting] Add `database = \"…\"` under `[collections.c]`.",
        ]
    );
    let found = problems("feed = \"cosmos\"\n", &[]);
    assert_eq!(
        found,
        [
            "`feed = \"cosmos\"` has no account to read from (projector.toml:1) [bad-setting] Add `[accounts.NAME]` with `endpoint = \"https://….documents.azure.com\"`."
        ]
    );
    let both = problems(
        &format!(
            "feed = \"cosmos\"\n[accounts.main]\nkey = \"{KEY}\"\nconnection_string = \"AccountEndpoint=https://a.b/;AccountKey={KEY}\"\n"
        ),
        &[],
    );
    assert_eq!(both.len(), 1, "{both:?}");
    assert!(
        both[0].contains("and `key` beside it") && !both[0].contains(KEY),
        "{both:?}"
    );
}

#[test]
fn a_section_that_is_misspelt_is_guessed() {
    let found = problems(
        "feed = \"emulator\"\n[account.main]\nauth = \"key\"\n[colections.a]\npartition_key = \"/a\"\n[collections.b]\npartition_key = \"/b\"\ndatabse = \"shop\"\n",
        &[],
    );
    assert_eq!(
        found,
        [
            "there is no setting `account.main.auth` (projector.toml:3) [unknown-setting] Did you mean `accounts.main.auth`?",
            "there is no setting `colections.a.partition_key` (projector.toml:5) [unknown-setting] Did you mean `collections.a.partition_key`?",
            "there is no setting `collections.b.databse` (projector.toml:8) [unknown-setting] Did you mean `collections.b.database`?",
        ]
    );
}

/// A key in the wrong place is shown by nobody, whichever place that is.
#[test]
fn a_key_that_was_put_in_the_wrong_place_is_not_shown() {
    let key =
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
    let whole = format!("AccountEndpoint=https://shop.documents.azure.com/;AccountKey={key};");
    let secrets = [
        key.to_owned(),
        key.trim_end_matches('=').replace('+', "a"),
        whole.clone(),
        format!("https://user:{key}@shop.documents.azure.com"),
        "https://user:hunter22@shop.documents.azure.com".to_owned(),
        format!("https://shop.documents.azure.com/?sig={key}"),
        "https://shop.documents.azure.com/?hunter22".to_owned(),
        "https://shop.documents.azure.com/#hunter22".to_owned(),
    ];
    for name in [
        "endpoint",
        "auth",
        "client_id",
        "tenant_id",
        "regions",
        "key",
        "connection_string",
    ] {
        for secret in &secrets {
            if name == "connection_string" && *secret == whole || name == "key" && secret == key {
                continue;
            }
            let file = format!("feed = \"cosmos\"\n[accounts.main]\n{name} = '{secret}'\n");
            let found = problems(&file, &[]).join("\n");
            assert!(!found.contains(&key[..20]), "{name}: {found}");
            assert!(!found.contains("hunter22"), "{name}: {found}");
            assert!(
                found.contains(&format!("`accounts.main.{name} = ")),
                "{found}"
            );
            assert_eq!(
                found.contains("This is a connection string"),
                *secret == whole,
                "{name}: {found}"
            );
        }
        let list = format!("feed = \"cosmos\"\n[accounts.main]\n{name} = ['{key}']\n");
        let found = problems(&list, &[]).join("\n");
        assert!(!found.contains(&key[..20]), "{name}: {found}");
    }
}

#[test]
fn endpoints_are_https_but_on_this_machine() {
    let parsed = |text: &str| super::parse::endpoint(&json!(text)).is_ok();
    for good in [
        "https://shop.documents.azure.com",
        "https://shop.documents.azure.com:443/",
        "http://localhost:8081/",
        "http://127.0.0.1",
        "http://[::1]:8081",
    ] {
        assert!(parsed(good), "{good}");
    }
    for bad in [
        "shop",
        "https://",
        "https://a b/",
        "http://localhost.evil.example/",
        "http://localhost@evil.example/",
        "http://evil.example/localhost",
        "http://10.0.0.1:8081",
        "ftp://localhost",
        "https://a:port/",
        "https://a/path",
        "https://a//",
        "https://a/?query",
        "https://a#part",
        "https://user@a/",
        "https://user:password@a",
    ] {
        assert!(!parsed(bad), "{bad}");
    }
}
