//! The local emulator's feed, in this process.
//!
//! A position is a sequence number of one physical range, as text.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use projectionist::change::{Document, Operation, RawChange};
use projectionist::needs::Mode;
use projectionist_emulator as emulator;

use super::{Feed, FeedError, FeedPage, FeedRange, From, Read, number_deletes};
use crate::position::{Bounds, EMULATOR, Position, Source};

/// The feed of a collection of the local emulator.
#[derive(Debug)]
pub struct EmulatorFeed {
    source: Source,
    collection: Arc<emulator::Collection>,
    retention: Option<Duration>,
}

impl EmulatorFeed {
    /// The feed of `collection`.
    pub fn new(collection: Arc<emulator::Collection>) -> Self {
        Self {
            source: Source {
                account: EMULATOR.to_owned(),
                database: "emulator".to_owned(),
                container: collection.name().to_owned(),
                rid: collection.rid().to_owned(),
            },
            retention: collection.config().retention,
            collection,
        }
    }

    /// With a retention window that the collection will have, for a check of what is not applied yet.
    #[must_use]
    pub(crate) fn with_retention(mut self, window: Option<Duration>) -> Self {
        self.retention = window;
        self
    }

    fn page(&self, read: &Read<'_>) -> Result<FeedPage, FeedError> {
        let from = match &read.from {
            From::Beginning => emulator::From::Beginning,
            // The service's times are exclusive and count whole seconds; ours include theirs.
            From::Time(time) => emulator::From::Time(a_second_before(*time)),
            From::Now => emulator::From::Now,
            From::Position(position) => emulator::From::After(self.sequence(position)?),
        };
        let page = self
            .collection
            .read_feed(&emulator::FeedRequest {
                min: read.bounds.min.clone(),
                max: read.bounds.max.clone(),
                mode: match read.mode {
                    Mode::LatestVersion => emulator::Mode::LatestVersion,
                    Mode::AllVersionsAndDeletes => emulator::Mode::AllVersions,
                },
                from,
                max_items: read.max_items,
            })
            .map_err(|error| self.error(read.bounds, error))?;
        let mut changes: Vec<_> = page.items.into_iter().map(change).collect();
        number_deletes(&mut changes);
        Ok(FeedPage {
            changes,
            position: Position::new(page.continuation.to_string()),
            caught_up: page.caught_up,
            range_changed: false,
            unreadable: None,
        })
    }

    fn sequence(&self, position: &Position) -> Result<u64, FeedError> {
        position
            .as_str()
            .parse()
            .map_err(|_| FeedError::BadPosition {
                collection: self.source.container.clone(),
                position: position.clone(),
            })
    }

    fn end(&self, bounds: &Bounds) -> Result<u64, FeedError> {
        self.collection
            .end(&bounds.min, &bounds.max)
            .map_err(|error| self.error(bounds, error))
    }

    fn error(&self, bounds: &Bounds, error: emulator::FeedError) -> FeedError {
        let collection = self.source.container.clone();
        match error {
            emulator::FeedError::Gone { .. } => FeedError::Gone {
                collection,
                bounds: bounds.clone(),
            },
            emulator::FeedError::Merged { .. } => FeedError::Merged {
                collection,
                bounds: bounds.clone(),
            },
            emulator::FeedError::Dropped { .. } => FeedError::Deleted { collection },
            emulator::FeedError::NoRetention { .. } => FeedError::NoRetention { collection },
            emulator::FeedError::RetentionExceeded { .. } => {
                FeedError::RetentionExceeded { collection }
            }
            emulator::FeedError::BeyondEnd { after, end, .. } => FeedError::BeyondEnd {
                collection,
                position: Position::new(after.to_string()),
                end,
            },
            error => FeedError::Unavailable {
                collection,
                source: error.into(),
            },
        }
    }
}

impl Feed for EmulatorFeed {
    fn source(&self) -> &Source {
        &self.source
    }

    fn retention(&self) -> Option<Duration> {
        self.retention
    }

    fn ranges(&self) -> BoxFuture<'_, Result<Vec<FeedRange>, FeedError>> {
        let ranges = self
            .collection
            .ranges()
            .into_iter()
            .map(|range| FeedRange {
                id: range.id,
                bounds: Bounds {
                    min: range.min,
                    max: range.max,
                },
            })
            .collect();
        Box::pin(async { Ok(ranges) })
    }

    fn read<'a>(&'a self, read: Read<'a>) -> BoxFuture<'a, Result<FeedPage, FeedError>> {
        Box::pin(async move { self.page(&read) })
    }

    fn newest<'a>(&'a self, bounds: &'a Bounds) -> BoxFuture<'a, Result<u64, FeedError>> {
        Box::pin(async { self.end(bounds) })
    }

    /// Sequence numbers between, which in latest-version mode include versions that were superseded since; of a
    /// range that was split, those of all its parts.
    fn backlog<'a>(
        &'a self,
        bounds: &'a Bounds,
        _: Mode,
        position: &'a Position,
    ) -> BoxFuture<'a, Result<Option<u64>, FeedError>> {
        Box::pin(async {
            let at = self.sequence(position)?;
            let mut backlog = 0;
            for range in self.ranges().await? {
                if let Some(part) = bounds.inside(&range.bounds) {
                    backlog += self.end(&part)?.saturating_sub(at);
                }
            }
            Ok(Some(backlog))
        })
    }

    fn changed<'a>(&'a self, bounds: &'a Bounds, position: &'a Position) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Ok(after) = self.sequence(position) else {
                return std::future::pending().await;
            };
            let changed = self.collection.changed(&bounds.min, &bounds.max, after);
            // Of a range that was split the next read tells.
            if changed.await.is_err() && self.end(bounds).is_ok() {
                std::future::pending::<()>().await;
            }
        })
    }
}

fn change(item: emulator::FeedItem) -> RawChange {
    RawChange {
        id: item.id,
        partition_key: item.partition_key,
        operation: match item.operation {
            emulator::Operation::Create => Operation::Create,
            emulator::Operation::Replace => Operation::Replace,
            emulator::Operation::Delete => Operation::Delete,
            emulator::Operation::Upsert => Operation::Upsert,
        },
        current: item.current.map(Document::from_json),
        previous: item.previous.map(Document::from_json),
        etag: item.etag,
        sequence: Some(item.lsn),
        ordinal: 0,
        timestamp: item.timestamp,
        expired: item.expired,
    }
}

fn a_second_before(time: Timestamp) -> Timestamp {
    time.saturating_sub(Duration::from_secs(1))
        .unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use projectionist::key::IdempotencyKey;
    use projectionist_emulator::{CollectionConfig, Emulator, Numbering, Options, Write};

    use super::*;

    #[tokio::test]
    async fn deletes_of_one_batch_are_told_apart() {
        let emulator = Emulator::in_memory(Options::new(Arc::new(|| Timestamp::UNIX_EPOCH)));
        let setup = CollectionConfig::new("/pk").retention(Duration::from_hours(1));
        let things = emulator.create_collection("things", setup).unwrap();
        let create = || Write::Create(r#"{"id":"1","pk":"a"}"#.into());
        let delete = || Write::Delete {
            id: "1".to_owned(),
            partition_key: "a".into(),
        };
        let batch = [create(), delete(), create(), delete()].map(Into::into);
        things.execute(batch, Numbering::Shared).unwrap();
        let bounds = Bounds {
            min: String::new(),
            max: "FF".to_owned(),
        };
        let read = Read {
            bounds: &bounds,
            mode: Mode::AllVersionsAndDeletes,
            from: From::Position(Position::new("0")),
            max_items: 1,
        };
        let page = EmulatorFeed::new(things).read(read).await.unwrap();
        let mut keys: Vec<_> = page
            .changes
            .iter()
            .map(|change| IdempotencyKey::of("p", "c", change).to_string())
            .collect();
        assert_eq!(keys.len(), 4);
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 4, "each change has a key of its own");
    }
}
