//! Puts the sources on top of each other and checks what comes out.

use std::collections::{BTreeMap, BTreeSet};

use projectionist::registry::Registry;
use serde_json::Value;

use super::key::{KEYS, Key, is_secret, nearest, normal, shown};
use super::sources::{Entry, Sources};
use super::user::scalar;
use super::{Account, Collection, Config, FeedKind, Origin, Overrides, Postgres, Setting, parse};
use crate::engine::Limits;
use crate::problem::{Problem, Problems, codes};

type Name = Vec<String>;

#[derive(Debug, Default)]
pub(super) struct Reader {
    found: BTreeMap<Name, (Value, Origin)>,
    pub(super) problems: Vec<Problem>,
}

pub(super) fn read(sources: &Sources, registry: &Registry) -> Result<Config, Problems> {
    let mut reader = Reader::default();
    let file = sources.file(&mut reader.problems);
    let known: BTreeSet<String> = registry
        .iter()
        .flat_map(|def| [def.spec.collection, def.spec.name])
        .map(str::to_owned)
        .chain(file.iter().filter_map(|entry| free(&entry.name).cloned()))
        .collect();
    let environment = sources.environment().into_iter().map(|mut entry| {
        // A variable's name has lost case and dashes; the declared name has them.
        if let Some(name) = free(&entry.name)
            && let Some(known) = known.iter().find(|known| normal(known) == *name)
        {
            entry.name[1].clone_from(known);
        }
        entry
    });
    for entry in file.into_iter().chain(environment).chain(sources.given()) {
        reader.put(entry);
    }
    let config = reader.config(sources, registry);
    if reader.problems.is_empty() {
        Ok(config)
    } else {
        Err(Problems(reader.problems))
    }
}

/// The sections in which names stand that the user chose.
const FREE: [&str; 3] = ["accounts", "collections", "projections"];

/// The name that the user chose, in `collections.NAME.…` and its like.
fn free(name: &[String]) -> Option<&String> {
    match name {
        [section, name, ..] if FREE.contains(&&section[..]) => Some(name),
        _ => None,
    }
}

impl Reader {
    fn put(&mut self, entry: Entry) {
        let Entry {
            name,
            value,
            origin,
        } = entry;
        // `[app]` and `[projections.billing]` without anything in them say nothing.
        if value.as_object().is_some_and(serde_json::Map::is_empty)
            && (name.len() < 3 && free(&name).is_some()
                || name[0] == "app"
                || FREE.contains(&name[0].as_str()))
        {
            if matches!(&name[0][..], "accounts" | "collections") && name.len() == 2 {
                self.found.insert(name, (Value::Null, origin));
            }
            return;
        }
        if Key::of(&name).is_some() {
            self.found.insert(name, (value, origin));
            return;
        }
        let shown = name.join(".");
        let candidates: Vec<String> = KEYS
            .iter()
            // The section itself may be what is misspelt: `account.main.key`.
            .map(|key| match name.get(1) {
                Some(free) => key.name.replacen('*', free, 1),
                None => key.name.to_owned(),
            })
            .collect();
        let help = match nearest(&shown, candidates.iter().map(String::as_str)) {
            Some(near) => format!("Did you mean `{near}`?"),
            None if name.len() == 1 => format!("There are: {}.", sections().join(", ")),
            None => "`config show` lists the settings; the program's own stand under `[app]`."
                .to_owned(),
        };
        self.problems.push(Problem::new(
            codes::UNKNOWN_SETTING,
            format!("there is no setting `{shown}` ({origin})"),
            help,
        ));
    }

    /// A value, if it is set or has a default. A wrong one is a problem.
    pub(super) fn take<T>(
        &mut self,
        name: &[&str],
        parse: fn(&Value) -> Result<T, String>,
    ) -> Option<(T, Origin)> {
        let name: Name = name.iter().map(|part| (*part).to_owned()).collect();
        let default = Key::of(&name).and_then(|key| key.default);
        let (value, origin) = match self.found.get(&name) {
            Some((value, origin)) => (value.clone(), origin.clone()),
            None => (Value::from(default?), Origin::Default),
        };
        match parse(&value) {
            Ok(parsed) => Some((parsed, origin)),
            Err(expected) => {
                let help = if is_misplaced(&name, &value) {
                    format!(
                        "This is a connection string: set it as `accounts.{}.connection_string`, better as a variable than in a file.",
                        name[1]
                    )
                } else {
                    default.map_or_else(
                        || "Correct it, or leave it out.".to_owned(),
                        |default| {
                            format!("Correct it, or leave it out: the default is `{default}`.")
                        },
                    )
                };
                let value = shown(&name, &value);
                self.problems.push(Problem::new(
                    codes::BAD_SETTING,
                    format!("`{} = {value}` ({origin}): {expected}", name.join(".")),
                    help,
                ));
                None
            }
        }
    }

    pub(super) fn get<T>(
        &mut self,
        name: &[&str],
        parse: fn(&Value) -> Result<T, String>,
    ) -> Option<T> {
        self.take(name, parse).map(|(value, _)| value)
    }

    /// The names that stand in a section.
    pub(super) fn names(&self, section: &str) -> BTreeSet<String> {
        self.found
            .keys()
            .filter(|name| name[0] == section)
            .filter_map(|name| name.get(1).cloned())
            .collect()
    }

    /// Whether somebody wrote it.
    pub(super) fn is_set(&self, name: &[&str]) -> bool {
        let name: Name = name.iter().map(|part| (*part).to_owned()).collect();
        self.found.contains_key(&name)
    }

    /// Who first mentions a name that the user chose.
    pub(super) fn mention(&self, section: &str, name: &str) -> Origin {
        self.found
            .iter()
            .find(|(found, _)| found[0] == section && found.get(1).is_some_and(|is| is == name))
            .map_or(Origin::Default, |(_, (_, origin))| origin.clone())
    }

    fn config(&mut self, sources: &Sources, registry: &Registry) -> Config {
        let limits = Limits::default();
        let feed = self.take(&["feed"], parse::feed);
        let accounts = self.accounts(feed.as_ref());
        let feed = feed.map(|(feed, _)| feed);
        // What a problem leaves without a value is never seen: the start ends there.
        Config {
            feed,
            store: self.get(&["store"], parse::store),
            data_dir: self.get(&["data_dir"], parse::path).unwrap_or_default(),
            postgres: self.postgres(),
            instance: self.get(&["instance"], parse::text),
            limits: Limits {
                poll: self.get(&["poll"], parse::duration).unwrap_or(limits.poll),
                hook: self
                    .get(&["hook_timeout"], parse::duration)
                    .unwrap_or(limits.hook),
                drain: self
                    .get(&["drain"], parse::duration)
                    .unwrap_or(limits.drain),
                backoff_max: self
                    .get(&["backoff_max"], parse::duration)
                    .unwrap_or(limits.backoff_max),
                ..limits
            },
            once_attempts: self
                .get(&["once_attempts"], parse::count)
                .unwrap_or_default(),
            log: self.get(&["log"], parse::log).unwrap_or_default(),
            log_format: self
                .get(&["log_format"], parse::log_format)
                .unwrap_or_default(),
            schema: self.get(&["schema"], parse::schema).unwrap_or_default(),
            collections: self.collections(feed, &accounts),
            accounts,
            projections: self.projections(registry),
            file: sources.file.as_ref().map(|(path, _)| path.clone()),
            settings: self.settings(),
        }
    }

    fn postgres(&mut self) -> Postgres {
        let postgres = Postgres {
            url: self.get(&["postgres", "url"], parse::database),
            connections: self
                .get(&["postgres", "connections"], parse::count)
                .unwrap_or_default(),
        };
        let name: Name = vec!["store".to_owned()];
        if let Some((Value::String(store), origin)) = self.found.get(&name)
            && store == "postgres"
            && !self.is_set(&["postgres", "url"])
        {
            self.problems.push(Problem::new(
                codes::BAD_SETTING,
                format!("`store = \"postgres\"` ({origin}) has no database"),
                "Set the variable `PROJECTOR_POSTGRES__URL` to `postgres://user:password@host/database`.",
            ));
        }
        postgres
    }

    fn collections(
        &mut self,
        feed: Option<FeedKind>,
        accounts: &BTreeMap<String, Account>,
    ) -> BTreeMap<String, Collection> {
        let mut collections = BTreeMap::new();
        for name in self.names("collections") {
            let at = |key| ["collections", name.as_str(), key];
            let partition_key = self.get(&at("partition_key"), parse::partition_key);
            if feed != Some(FeedKind::Cosmos) && !self.is_set(&at("partition_key")) {
                let origin = self.mention("collections", &name);
                self.problems.push(Problem::new(
                    codes::BAD_SETTING,
                    format!("collection `{name}` has no partition key ({origin})"),
                    format!("Add `partition_key = \"/…\"` under `[collections.{name}]`."),
                ));
            }
            let collection = Collection {
                place: self.place(&name, feed, accounts),
                partition_key: partition_key.unwrap_or_default(),
                ranges: self.get(&at("ranges"), parse::count).unwrap_or_default(),
                retention: self.get(&at("retention"), parse::duration),
                ttl: self.get(&at("ttl"), parse::ttl),
                previous_images: self
                    .get(&at("previous_images"), parse::flag)
                    .unwrap_or_default(),
            };
            collections.insert(name, collection);
        }
        collections
    }

    fn projections(&mut self, registry: &Registry) -> BTreeMap<String, Overrides> {
        let mut projections = BTreeMap::new();
        for name in self.names("projections") {
            let at = |key| ["projections", name.as_str(), key];
            if !registry.iter().any(|def| def.spec.name == name) {
                let origins: BTreeSet<_> = self
                    .found
                    .iter()
                    .filter(|(found, _)| found[0] == "projections" && found[1] == name)
                    .map(|(_, (_, origin))| origin.to_string())
                    .collect();
                let origins: Vec<_> = origins.into_iter().collect();
                self.problems
                    .push(unknown_projection(&name, &origins.join(", "), registry));
            }
            let overrides = Overrides {
                start: self.take(&at("start"), parse::start),
                batch: self.get(&at("batch"), parse::count),
            };
            projections.insert(name, overrides);
        }
        projections
    }

    /// Everything that is set or has a default, in the order of the list.
    fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for key in KEYS {
            let (section, rest) = key.name.split_once('.').unwrap_or((key.name, ""));
            let mut names: BTreeSet<Name> = self
                .found
                .keys()
                .filter(|name| Key::of(name).is_some_and(|of| std::ptr::eq(of, key)))
                .cloned()
                .collect();
            if rest.is_empty() {
                names.insert(vec![section.to_owned()]);
            } else if !rest.contains('*') && key.default.is_some() {
                names.insert(key.name.split('.').map(str::to_owned).collect());
            } else if let (Some(last), Some(_)) = (rest.strip_prefix("*."), key.default) {
                let all = self.names(section).into_iter();
                names.extend(all.map(|name| vec![section.to_owned(), name, last.to_owned()]));
            }
            settings.extend(names.into_iter().map(|name| {
                let (value, origin) = match self.found.get(&name) {
                    Some((value, origin)) => (Some(value.clone()), origin.clone()),
                    None => (key.default.map(scalar), Origin::Default),
                };
                Setting {
                    secret: is_secret(&name),
                    name: name.join("."),
                    value,
                    origin,
                }
            }));
        }
        settings
    }
}

/// Whether it is a connection string that stands in the place of something else.
fn is_misplaced(name: &[String], value: &Value) -> bool {
    let is_one = |text: &str| {
        let text = text.to_lowercase();
        text.contains("accountendpoint=") || text.contains("accountkey=")
    };
    name[0] == "accounts"
        && name.last().is_some_and(|last| last != "connection_string")
        && value.as_str().is_some_and(is_one)
}

/// The names that may stand at the top.
fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = KEYS
        .iter()
        .map(|key| key.name.split('.').next().unwrap_or(key.name))
        .collect();
    sections.dedup();
    sections
}

/// A projection that nobody declares.
pub(crate) fn unknown_projection(name: &str, origin: &str, registry: &Registry) -> Problem {
    let names: Vec<_> = registry.iter().map(|def| def.spec.name).collect();
    let near = nearest(name, names.iter().copied())
        .map(|near| format!("Did you mean `{near}`? "))
        .unwrap_or_default();
    Problem::new(
        codes::UNKNOWN_PROJECTION,
        format!("there is no projection `{name}` ({origin})"),
        format!("{near}There are: {}.", names.join(", ")),
    )
}
