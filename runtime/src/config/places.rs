//! Reads `[accounts.NAME]`, and where in which account a collection lies.

use std::collections::BTreeMap;

use super::key::nearest;
use super::reader::Reader;
use super::{Account, Auth, FeedKind, Origin, Place, parse};
use crate::position::EMULATOR;
use crate::problem::{Problem, codes};

impl Reader {
    /// The accounts. What one lacks is told only where the feed needs it: one file may serve both feeds.
    pub(super) fn accounts(
        &mut self,
        feed: Option<&(FeedKind, Origin)>,
    ) -> BTreeMap<String, Account> {
        let needed = feed.is_some_and(|(feed, _)| *feed == FeedKind::Cosmos);
        let names = self.names("accounts");
        let accounts: BTreeMap<_, _> = names
            .into_iter()
            .map(|name| {
                let account = self.account(&name, needed);
                (name, account)
            })
            .collect();
        if let (Some((FeedKind::Cosmos, origin)), true) = (feed, accounts.is_empty()) {
            self.problems.push(Problem::new(
                codes::BAD_SETTING,
                format!("`feed = \"cosmos\"` has no account to read from ({origin})"),
                "Add `[accounts.NAME]` with `endpoint = \"https://….documents.azure.com\"`.",
            ));
        }
        accounts
    }

    fn account(&mut self, name: &str, needed: bool) -> Account {
        let at = |key| ["accounts", name, key];
        let mut problems = Vec::new();
        let own = self.get(&at("endpoint"), parse::endpoint);
        let own_key = self.get(&at("key"), parse::account_key);
        let both = self.take(&at("connection_string"), parse::connection_string);
        if let Some((_, origin)) = &both {
            for key in ["endpoint", "key"] {
                if self.is_set(&at(key)) {
                    problems.push(Problem::new(
                        codes::BAD_SETTING,
                        format!("account `{name}` has a `connection_string` ({origin}) and `{key}` beside it"),
                        format!("A connection string is endpoint and key in one: remove it or `accounts.{name}.{key}`."),
                    ));
                }
            }
        }
        let (endpoint, key) = match both {
            Some(((endpoint, key), _)) => (Some(endpoint), Some(key)),
            None => (own, own_key),
        };
        let origin = self.mention("accounts", name);
        let has_key = self.is_set(&at("key")) || self.is_set(&at("connection_string"));
        let auth = self.take(&at("auth"), parse::auth);
        match &auth {
            Some((Auth::Key, origin)) if !has_key => problems.push(Problem::new(
                codes::BAD_SETTING,
                format!("account `{name}` signs in by its key ({origin}) and has none"),
                format!(
                    "Set the variable `{}`; or set another `auth`.",
                    variable(name, "KEY")
                ),
            )),
            Some((auth, origin)) if *auth != Auth::Key && has_key => problems.push(Problem::new(
                codes::BAD_SETTING,
                format!(
                    "account `{name}` has a key, which `auth = \"{}\"` ({origin}) does not use",
                    auth.as_str()
                ),
                "Remove the key, or set `auth = \"key\"`.",
            )),
            _ => {}
        }
        if name == EMULATOR {
            problems.push(Problem::new(
                codes::BAD_SETTING,
                format!("an account is named `{name}` ({origin}), which is the local one's name"),
                "Give it another name: checkpoints are filed under it.",
            ));
        }
        if !self.is_set(&at("endpoint")) && !self.is_set(&at("connection_string")) {
            problems.push(Problem::new(
                codes::BAD_SETTING,
                format!("account `{name}` has no endpoint ({origin})"),
                format!(
                    "Add `endpoint = \"https://….documents.azure.com\"` under `[accounts.{name}]`."
                ),
            ));
        }
        if needed {
            self.problems.append(&mut problems);
        }
        let fallback = if has_key { Auth::Key } else { Auth::Identity };
        Account {
            endpoint: endpoint.unwrap_or_default(),
            auth: auth.map_or(fallback, |(auth, _)| auth),
            key,
            client_id: self.get(&at("client_id"), parse::identifier),
            tenant_id: self.get(&at("tenant_id"), parse::identifier),
            regions: self.get(&at("regions"), parse::regions).unwrap_or_default(),
        }
    }

    /// Where a collection lies, if the feed is that of Azure Cosmos DB.
    pub(super) fn place(
        &mut self,
        name: &str,
        feed: Option<FeedKind>,
        accounts: &BTreeMap<String, Account>,
    ) -> Option<Place> {
        let at = |key| ["collections", name, key];
        let account = self.take(&at("account"), parse::text);
        let database = self.get(&at("database"), parse::text);
        let container = self.get(&at("container"), parse::text);
        if feed != Some(FeedKind::Cosmos) {
            return None;
        }
        let names: Vec<_> = accounts.keys().map(String::as_str).collect();
        let origin = self.mention("collections", name);
        let account = match (account, &names[..]) {
            (Some((account, origin)), [_, ..]) if !accounts.contains_key(&account) => {
                let near = nearest(&account, names.iter().copied())
                    .map(|near| format!("Did you mean `{near}`? "))
                    .unwrap_or_default();
                self.problems.push(Problem::new(
                    codes::BAD_SETTING,
                    format!("collection `{name}` lies in account `{account}` ({origin}), which the settings do not have"),
                    format!("{near}There are: {}.", names.join(", ")),
                ));
                account
            }
            (Some((account, _)), _) => account,
            (None, [only]) => (*only).to_owned(),
            (None, names) => {
                // Without any account that was said already.
                if !names.is_empty() && !self.is_set(&at("account")) {
                    self.problems.push(Problem::new(
                        codes::BAD_SETTING,
                        format!(
                            "collection `{name}` does not say in which account it lies ({origin})"
                        ),
                        format!(
                            "Add `account = \"…\"` under `[collections.{name}]`. There are: {}.",
                            names.join(", ")
                        ),
                    ));
                }
                String::new()
            }
        };
        if !self.is_set(&at("database")) {
            self.problems.push(Problem::new(
                codes::BAD_SETTING,
                format!("collection `{name}` does not say in which database it lies ({origin})"),
                format!("Add `database = \"…\"` under `[collections.{name}]`."),
            ));
        }
        Some(Place {
            account,
            database: database.unwrap_or_default(),
            container: container.unwrap_or_else(|| name.to_owned()),
        })
    }
}

/// The environment variable of an account's setting.
fn variable(name: &str, key: &str) -> String {
    let name = name.to_uppercase().replace('-', "_");
    format!("PROJECTOR_ACCOUNTS__{name}__{key}")
}
