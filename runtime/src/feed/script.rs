//! A feed that plays a script: for tests of the engine and of stores.
//!
//! One range, changes in order, and failures where the script says so.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use projectionist::change::RawChange;
use projectionist::needs::Mode;
use tokio::sync::watch;

use super::{Feed, FeedError, FeedPage, FeedRange, From, Read};
use crate::position::{Bounds, Position, Source};

/// A feed that plays a script.
#[derive(Debug)]
pub struct ScriptFeed {
    source: Source,
    retention: Option<Duration>,
    changes: watch::Sender<Vec<RawChange>>,
    failures: Mutex<VecDeque<FeedError>>,
}

impl ScriptFeed {
    /// An empty feed of one range.
    pub fn new(container: &str, retention: Option<Duration>) -> Self {
        Self {
            source: Source {
                account: "script".to_owned(),
                database: "script".to_owned(),
                container: container.to_owned(),
                rid: "script".to_owned(),
            },
            retention,
            changes: watch::Sender::new(Vec::new()),
            failures: Mutex::default(),
        }
    }

    /// Appends changes.
    pub fn push(&self, changes: impl IntoIterator<Item = RawChange>) {
        self.changes.send_modify(|all| all.extend(changes));
    }

    /// Fails the next read with `error`; several queue up.
    pub fn fail(&self, error: FeedError) {
        self.failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(error);
    }

    fn answer(&self, read: &Read<'_>) -> Result<FeedPage, FeedError> {
        let failure = self
            .failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        if let Some(error) = failure {
            return Err(error);
        }
        let all = self.changes.borrow();
        let start = match &read.from {
            From::Beginning => 0,
            From::Time(time) => all.partition_point(|change| change.timestamp < *time),
            From::Now => all.len(),
            From::Position(position) => self.index(position, all.len())?,
        };
        let end = all.len().min(start + read.max_items as usize);
        Ok(FeedPage {
            changes: all[start..end].to_vec(),
            position: Position::new(end.to_string()),
            caught_up: end == all.len(),
            range_changed: false,
        })
    }

    fn index(&self, position: &Position, end: usize) -> Result<usize, FeedError> {
        let collection = self.source.container.clone();
        let index: usize = position
            .as_str()
            .parse()
            .map_err(|_| FeedError::BadPosition {
                collection: collection.clone(),
                position: position.clone(),
            })?;
        if index > end {
            return Err(FeedError::BeyondEnd {
                collection,
                position: position.clone(),
                end: end as u64,
            });
        }
        Ok(index)
    }
}

impl Feed for ScriptFeed {
    fn source(&self) -> &Source {
        &self.source
    }

    fn retention(&self) -> Option<Duration> {
        self.retention
    }

    fn ranges(&self) -> BoxFuture<'_, Result<Vec<FeedRange>, FeedError>> {
        let whole = FeedRange {
            id: "0".to_owned(),
            bounds: Bounds {
                min: String::new(),
                max: "FF".to_owned(),
            },
        };
        Box::pin(async { Ok(vec![whole]) })
    }

    fn read<'a>(&'a self, read: Read<'a>) -> BoxFuture<'a, Result<FeedPage, FeedError>> {
        Box::pin(async move { self.answer(&read) })
    }

    fn newest<'a>(&'a self, _bounds: &'a Bounds) -> BoxFuture<'a, Result<u64, FeedError>> {
        Box::pin(async { Ok(self.changes.borrow().len() as u64) })
    }

    fn backlog<'a>(
        &'a self,
        _bounds: &'a Bounds,
        _mode: Mode,
        position: &'a Position,
    ) -> BoxFuture<'a, Result<Option<u64>, FeedError>> {
        Box::pin(async move {
            let end = self.changes.borrow().len();
            Ok(Some((end - self.index(position, end)?) as u64))
        })
    }

    fn changed<'a>(&'a self, _bounds: &'a Bounds, position: &'a Position) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut changes = self.changes.subscribe();
            let seen = position.as_str().parse().unwrap_or(0);
            if changes.wait_for(|all| all.len() > seen).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
