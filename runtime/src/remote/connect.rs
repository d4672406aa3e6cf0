//! Connects to what projections read.

use std::collections::BTreeMap;
use std::sync::Arc;

use projectionist::needs::Mode;
use projectionist::registry::ProjectionDef;

use super::Feeds;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::feed::cosmos::account::Account;
use crate::feed::cosmos::{CosmosFeed, Target};
use crate::parts::unknown_collection;
use crate::problem::Problem;
use crate::problem::causes::feed_problem;

/// The feeds that can be had, and what is wrong with the others. What the settings describe beside them is left alone.
pub(super) async fn connect(
    config: &Config,
    defs: &[&'static ProjectionDef],
) -> (Feeds, Vec<Problem>) {
    let accounts: BTreeMap<&str, Arc<Account>> = config
        .accounts
        .iter()
        .map(|(name, settings)| (name.as_str(), Arc::new(Account::new(settings.clone()))))
        .collect();
    // For each collection the first projection that reads it, to be named, and whether any needs history.
    let mut wanted: BTreeMap<&str, (&str, bool)> = BTreeMap::new();
    for def in defs {
        let history = def.mode == Mode::AllVersionsAndDeletes;
        wanted
            .entry(def.spec.collection)
            .and_modify(|(_, needed)| *needed |= history)
            .or_insert((def.spec.name, history));
    }
    let mut feeds = Feeds::new();
    let mut problems = Vec::new();
    for (collection, (projection, history)) in wanted {
        let place = config
            .collections
            .get(collection)
            .and_then(|collection| collection.place.as_ref());
        let account = place.and_then(|place| accounts.get(place.account.as_str()));
        let (Some(place), Some(account)) = (place, account) else {
            problems.push(unknown_collection(config, collection));
            continue;
        };
        let target = Target {
            collection: collection.to_owned(),
            account: place.account.clone(),
            database: place.database.clone(),
            container: place.container.clone(),
        };
        let connected =
            CosmosFeed::connect(Arc::clone(account), target, history, Arc::new(SystemClock)).await;
        match connected {
            Ok(feed) => {
                feeds.insert(collection.to_owned(), Arc::new(feed));
            }
            Err(error) => problems.push(feed_problem(projection, error)),
        }
    }
    (feeds, problems)
}
