//! The containers in Azure Cosmos DB that the settings name, as the program uses them.

use std::collections::BTreeMap;
use std::sync::Arc;

use projectionist::needs::Mode;
use projectionist::registry::ProjectionDef;

use crate::clock::SystemClock;
use crate::config::Config;
use crate::feed::Feed;
use crate::feed::cosmos::account::Account;
use crate::feed::cosmos::{CosmosFeed, Target};
use crate::parts::unknown_collection;
use crate::problem::causes::feed_problem;
use crate::problem::{Problem, Problems};

/// The feeds of collections, by their names.
type Feeds = BTreeMap<String, Arc<dyn Feed>>;

/// The feeds that projections read, connected. What the settings describe beside them is left alone.
pub(crate) async fn feeds(
    config: &Config,
    defs: &[&'static ProjectionDef],
) -> Result<Feeds, Problems> {
    let (feeds, problems) = connect(config, defs).await;
    if problems.is_empty() {
        Ok(feeds)
    } else {
        Err(Problems(problems))
    }
}

/// Those of them that can be had, for a command that only looks.
pub(crate) async fn reachable(config: &Config, defs: &[&'static ProjectionDef]) -> Feeds {
    connect(config, defs).await.0
}

async fn connect(config: &Config, defs: &[&'static ProjectionDef]) -> (Feeds, Vec<Problem>) {
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
