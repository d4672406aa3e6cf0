//! The change feed of a container in Azure Cosmos DB, on the official SDK.
//!
//! A position is the SDK's continuation token as it stood after a page, a range's name its bounds. One SDK iterator
//! serves a lease; after any error it is made anew from the last position. The SDK reads through a split on its own, so
//! a page says when the physical ranges under it changed ([`FeedPage::range_changed`]).

pub mod account;
mod fault;
mod item;
mod reader;
mod reading;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use azure_data_cosmos::ContainerClient;
use azure_data_cosmos::clients::DatabaseClient;
use azure_data_cosmos::feed::FeedRange as SdkRange;
use azure_data_cosmos::models::{ContainerProperties, EffectivePartitionKey, ResourceResponse};
use azure_data_cosmos::options::ReadFeedRangesOptions;
use futures_util::future::BoxFuture;
use projectionist::needs::Mode;

use self::account::Account;
use self::fault::Fault;
use self::item::KeyPaths;
use self::reader::Readers;
use super::{Feed, FeedError, FeedPage, FeedRange, Read};
use crate::clock::Clock;
use crate::position::{Bounds, Position, Source};

/// Where a collection lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The collection's name in settings.
    pub collection: String,
    /// The account's name in settings.
    pub account: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
}

/// The feed of one container.
pub struct CosmosFeed {
    target: Target,
    source: Source,
    account: Arc<Account>,
    container: ContainerClient,
    keys: KeyPaths,
    retention: Option<Duration>,
    readers: Readers,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for CosmosFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CosmosFeed")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// The window assumed where the account keeps history and does not say for how long: that of continuous backup in its
/// shorter tier. It only sets how often a quiet range is stored (P12).
const ASSUMED_RETENTION: Duration = Duration::from_hours(7 * 24);

impl CosmosFeed {
    /// Finds the container. `history`: whether somebody needs its all-versions feed, so that it is worth a look whether it
    /// has one.
    ///
    /// # Errors
    ///
    /// If the account cannot be reached or denies it, or if there is no such container.
    pub async fn connect(
        account: Arc<Account>,
        target: Target,
        history: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, FeedError> {
        let (container, properties) = open(&account, &target).await?;
        let rid = rid(&properties, &target)?;
        let policy = properties
            .change_feed_policy
            .as_ref()
            .map(|policy| policy.retention_duration().unwrap_or_default());
        let mut feed = Self {
            source: Source {
                account: target.account.clone(),
                database: target.database.clone(),
                container: target.container.clone(),
                rid,
            },
            target,
            account,
            container,
            keys: KeyPaths::new(properties.partition_key.paths()),
            retention: policy.filter(|window| !window.is_zero()),
            readers: Readers::default(),
            clock,
        };
        // An account with continuous backup has no policy on the container: only asking tells.
        if history && policy.is_none() {
            feed.retention = feed.probe().await?.then_some(ASSUMED_RETENTION);
        }
        Ok(feed)
    }

    /// Whether the service serves the all-versions feed.
    async fn probe(&self) -> Result<bool, FeedError> {
        let whole = Bounds {
            min: String::new(),
            max: "FF".to_owned(),
        };
        match self.pin(&whole, Mode::AllVersionsAndDeletes).await {
            Ok(_) => Ok(true),
            Err(FeedError::NoRetention { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The physical ranges that bounds touch, as the SDK last heard of them.
    async fn physical(&self, bounds: &Bounds) -> Result<Vec<Bounds>, Fault> {
        let all = self.container.read_feed_ranges(None).await?;
        let all = all.iter().map(bounds_of);
        Ok(all
            .filter(|range| range.min < bounds.max && bounds.min < range.max)
            .collect())
    }

    /// What is wrong, where a read says that the container is not the one it was: it is looked up anew, with a client that
    /// remembers nothing.
    async fn identity(&self) -> Option<FeedError> {
        let collection = self.target.collection.clone();
        let account = self.account.anew();
        match open(&account, &self.target).await {
            Err(FeedError::Missing { .. }) => Some(FeedError::Deleted { collection }),
            Err(error) => Some(error),
            Ok((_, properties)) => match rid(&properties, &self.target) {
                Ok(found) if found != self.source.rid => Some(FeedError::Recreated {
                    collection,
                    expected: self.source.rid.clone(),
                    found,
                }),
                Ok(_) => None,
                Err(error) => Some(error),
            },
        }
    }

    /// A fault, as the engine is told it.
    async fn judge(&self, fault: Fault, position: Option<&Position>) -> FeedError {
        let collection = self.target.collection.clone();
        match (fault, position) {
            (Fault::Identity(error), _) => match self.identity().await {
                Some(error) => error,
                None => FeedError::Unavailable {
                    collection,
                    source: error.into(),
                },
            },
            (Fault::Position(_), Some(position)) => match self.identity().await {
                Some(error) => error,
                None => FeedError::BadPosition {
                    collection,
                    position: position.clone(),
                },
            },
            (Fault::Beyond(error), Some(position)) => match self.head(&Bounds::whole()).await {
                Ok(end) => FeedError::BeyondEnd {
                    collection,
                    position: position.clone(),
                    end,
                },
                Err(_) => FeedError::Unavailable {
                    collection,
                    source: error.into(),
                },
            },
            (Fault::Retention(_), _) => FeedError::RetentionExceeded { collection },
            (Fault::NoHistory(_), _) => FeedError::NoRetention { collection },
            (fault, _) => fault::plain(fault, &self.target),
        }
    }
}

/// The container and what it says of itself.
async fn open(
    account: &Account,
    target: &Target,
) -> Result<(ContainerClient, ContainerProperties), FeedError> {
    let failed = |fault: Fault| match fault {
        Fault::Identity(_) => FeedError::Missing {
            collection: target.collection.clone(),
            path: format!(
                "{}/{}/{}",
                target.account, target.database, target.container
            ),
        },
        fault => fault::plain(fault, target),
    };
    let client = account.client().await.map_err(|error| error.of(target))?;
    let database: DatabaseClient = client.database_client(target.database.clone());
    let container = database
        .container_client(target.container.clone(), None)
        .await
        .map_err(|error| failed(error.into()))?;
    let properties = container
        .read(None)
        .await
        .and_then(ResourceResponse::into_model)
        .map_err(|error| failed(error.into()))?;
    Ok((container, properties))
}

fn rid(properties: &ContainerProperties, target: &Target) -> Result<String, FeedError> {
    let rid = properties.system_properties.resource_id.clone();
    rid.ok_or_else(|| FeedError::Unavailable {
        collection: target.collection.clone(),
        source: "the service names no resource id of the container".into(),
    })
}

/// Bounds as text that orders as they do: without the padding that the service may or may not write.
fn bounds_of(range: &SdkRange) -> Bounds {
    let text = |key: &EffectivePartitionKey| {
        let mut text = key.to_hex();
        while text.len() >= 2 && text.ends_with("00") {
            text.truncate(text.len() - 2);
        }
        text
    };
    Bounds {
        min: text(range.min_inclusive()),
        max: text(range.max_exclusive()),
    }
}

impl Feed for CosmosFeed {
    fn source(&self) -> &Source {
        &self.source
    }

    fn retention(&self) -> Option<Duration> {
        self.retention
    }

    fn ranges(&self) -> BoxFuture<'_, Result<Vec<FeedRange>, FeedError>> {
        Box::pin(async {
            let options = ReadFeedRangesOptions::default().with_force_refresh(true);
            let ranges = match self.container.read_feed_ranges(Some(options)).await {
                Ok(ranges) => ranges,
                Err(error) => return Err(self.judge(error.into(), None).await),
            };
            let mut ranges: Vec<_> = ranges
                .iter()
                .map(|range| {
                    let bounds = bounds_of(range);
                    FeedRange {
                        id: bounds.to_string(),
                        bounds,
                    }
                })
                .collect();
            ranges.sort_by(|a, b| a.bounds.cmp(&b.bounds));
            Ok(ranges)
        })
    }

    fn read<'a>(&'a self, read: Read<'a>) -> BoxFuture<'a, Result<FeedPage, FeedError>> {
        Box::pin(async move { self.page(&read).await })
    }

    fn newest<'a>(&'a self, bounds: &'a Bounds) -> BoxFuture<'a, Result<u64, FeedError>> {
        Box::pin(async {
            match self.head(bounds).await {
                Ok(newest) => Ok(newest),
                Err(fault) => Err(self.judge(fault, None).await),
            }
        })
    }

    fn backlog<'a>(
        &'a self,
        bounds: &'a Bounds,
        mode: Mode,
        position: &'a Position,
    ) -> BoxFuture<'a, Result<Option<u64>, FeedError>> {
        Box::pin(self.behind(bounds, mode, position))
    }

    fn changed<'a>(&'a self, _: &'a Bounds, _: &'a Position) -> BoxFuture<'a, ()> {
        // The service does not call; the pump asks.
        Box::pin(std::future::pending())
    }
}
