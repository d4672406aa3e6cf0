//! The containers in Azure Cosmos DB that the settings name, as the program uses them.

#[cfg(feature = "cosmos")]
mod connect;

use std::collections::BTreeMap;
use std::sync::Arc;

use projectionist::registry::ProjectionDef;

use crate::config::Config;
use crate::feed::Feed;
use crate::problem::Problems;

/// The feeds of collections, by their names.
pub(crate) type Feeds = BTreeMap<String, Arc<dyn Feed>>;

/// The feeds that projections read, connected. None: the feed is another.
#[cfg(feature = "cosmos")]
pub(crate) async fn feeds(
    config: &Config,
    defs: &[&'static ProjectionDef],
) -> Result<Option<Feeds>, Problems> {
    if config.feed != Some(crate::config::FeedKind::Cosmos) {
        return Ok(None);
    }
    let (feeds, problems) = connect::connect(config, defs).await;
    if problems.is_empty() {
        Ok(Some(feeds))
    } else {
        Err(Problems(problems))
    }
}

/// Those of them that answer soon, for a command that only looks. None: the feed is another.
#[cfg(feature = "cosmos")]
pub(crate) async fn reachable(config: &Config, defs: &[&'static ProjectionDef]) -> Option<Feeds> {
    use crate::clock::{Clock as _, SystemClock};
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

    if config.feed != Some(crate::config::FeedKind::Cosmos) {
        return None;
    }
    Some(tokio::select! {
        (feeds, _) = connect::connect(config, defs) => feeds,
        () = SystemClock.sleep(PATIENCE) => Feeds::new(),
    })
}

/// Without the feature settings cannot name that feed.
#[cfg(not(feature = "cosmos"))]
pub(crate) fn feeds(
    _: &Config,
    _: &[&'static ProjectionDef],
) -> std::future::Ready<Result<Option<Feeds>, Problems>> {
    std::future::ready(Ok(None))
}

/// Without the feature settings cannot name that feed.
#[cfg(not(feature = "cosmos"))]
pub(crate) fn reachable(
    _: &Config,
    _: &[&'static ProjectionDef],
) -> std::future::Ready<Option<Feeds>> {
    std::future::ready(None)
}
