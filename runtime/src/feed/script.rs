//! A feed that plays a script: for tests of the engine and of stores.
//!
//! Changes in one order for all ranges, so that a position means the same in each; splits and merges of the ranges,
//! lists of ranges that are out of date, and failures, where the script says so.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    /// Each with the hash of its key.
    changes: watch::Sender<Vec<(String, RawChange)>>,
    failures: Mutex<VecDeque<FeedError>>,
    ranges: Mutex<Ranges>,
    hangs: AtomicBool,
}

/// The physical ranges, and what is said of them.
#[derive(Debug)]
struct Ranges {
    /// Where one ends and the next begins.
    cuts: Vec<String>,
    /// Lists that are out of date, given out first.
    stale: VecDeque<Vec<FeedRange>>,
    /// Positions below are of before a merge of these bounds.
    merges: Vec<(Bounds, usize)>,
    /// Whether reads go through a split, and tell of it, instead of answering that the range is gone.
    reads_through: bool,
}

impl Ranges {
    fn list(&self) -> Vec<FeedRange> {
        let whole = Bounds::whole();
        let begins = std::iter::once(&whole.min).chain(&self.cuts);
        let ends = self.cuts.iter().chain(std::iter::once(&whole.max));
        begins
            .zip(ends)
            .map(|(min, max)| FeedRange {
                id: format!("from {min}"),
                bounds: Bounds {
                    min: min.clone(),
                    max: max.clone(),
                },
            })
            .collect()
    }
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
            ranges: Mutex::new(Ranges {
                cuts: Vec::new(),
                stale: VecDeque::new(),
                merges: Vec::new(),
                reads_through: false,
            }),
            hangs: AtomicBool::new(false),
        }
    }

    /// Appends changes of the least key.
    pub fn push(&self, changes: impl IntoIterator<Item = RawChange>) {
        self.push_at("", changes);
    }

    /// Appends changes of a key with this hash.
    pub fn push_at(&self, hash: &str, changes: impl IntoIterator<Item = RawChange>) {
        let changes = changes.into_iter().map(|change| (hash.to_owned(), change));
        self.changes.send_modify(|all| all.extend(changes));
    }

    /// Fails the next read with `error`; several queue up.
    pub fn fail(&self, error: FeedError) {
        self.failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(error);
    }

    /// From here on reads get no answer.
    pub fn hang(&self) {
        self.hangs.store(true, Ordering::Relaxed);
    }

    /// Splits the range that holds this hash, there.
    pub fn split(&self, at: &str) {
        {
            let cuts = &mut self.ranges().cuts;
            if let Err(place) = cuts.binary_search_by(|cut| cut.as_str().cmp(at)) {
                cuts.insert(place, at.to_owned());
            }
        }
        // Whoever waits for something new is woken, as by a connection that is closed.
        self.changes.send_modify(|_| {});
    }

    /// Splits as [`split`](Self::split) does, and lists the ranges of before so many times more.
    pub fn split_unseen(&self, at: &str, lists: usize) {
        let before = self.ranges().list();
        self.split(at);
        self.ranges()
            .stale
            .extend(std::iter::repeat_n(before, lists));
    }

    /// Merges the two ranges that meet at this hash. In all-versions mode no position of before can be read from then.
    pub fn merge(&self, at: &str) {
        let end = self.changes.borrow().len();
        let mut ranges = self.ranges();
        ranges.cuts.retain(|cut| cut != at);
        let merged = ranges
            .list()
            .into_iter()
            .find(|range| range.bounds.min.as_str() < at && at < range.bounds.max.as_str());
        ranges
            .merges
            .extend(merged.map(|range| (range.bounds, end)));
    }

    /// From here on reads go through a split on their own, and say that the ranges are others.
    pub fn read_through(&self) {
        self.ranges().reads_through = true;
    }

    fn ranges(&self) -> MutexGuard<'_, Ranges> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
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
            From::Time(time) => all.partition_point(|(_, change)| change.timestamp < *time),
            From::Now => all.len(),
            From::Position(position) => self.index(position, all.len())?,
        };
        let range_changed = self.look(read, start)?;
        let inside = |hash: &String| read.bounds.min <= *hash && *hash < read.bounds.max;
        let mut found = all
            .iter()
            .enumerate()
            .skip(start)
            .filter(|(_, (hash, _))| inside(hash));
        let page: Vec<_> = found.by_ref().take(read.max_items as usize).collect();
        let caught_up = found.next().is_none();
        let end = match page.last() {
            Some((last, _)) if !caught_up => last + 1,
            _ => all.len(),
        };
        Ok(FeedPage {
            changes: page
                .into_iter()
                .map(|(_, (_, change))| change.clone())
                .collect(),
            position: Position::new(end.to_string()),
            caught_up,
            range_changed,
            unreadable: None,
        })
    }

    /// Whether the bounds span several ranges, where that is no error.
    fn look(&self, read: &Read<'_>, start: usize) -> Result<bool, FeedError> {
        let (bounds, ranges) = (read.bounds, self.ranges());
        let collection = || self.source.container.clone();
        let before_merge =
            |(merged, end): &(Bounds, usize)| merged.overlaps(bounds) && start < *end;
        if read.mode == Mode::AllVersionsAndDeletes && ranges.merges.iter().any(before_merge) {
            return Err(FeedError::Merged {
                collection: collection(),
                bounds: bounds.clone(),
            });
        }
        let list = ranges.list();
        let spans = !list.iter().any(|range| range.bounds.contains(bounds));
        if spans && !ranges.reads_through {
            return Err(FeedError::Gone {
                collection: collection(),
                bounds: bounds.clone(),
            });
        }
        Ok(spans)
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
        Box::pin(async {
            let mut ranges = Self::ranges(self);
            Ok(ranges.stale.pop_front().unwrap_or_else(|| ranges.list()))
        })
    }

    fn read<'a>(&'a self, read: Read<'a>) -> BoxFuture<'a, Result<FeedPage, FeedError>> {
        Box::pin(async move {
            if self.hangs.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            self.answer(&read)
        })
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

    fn changed<'a>(&'a self, bounds: &'a Bounds, position: &'a Position) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut changes = self.changes.subscribe();
            let seen = position.as_str().parse().unwrap_or(0);
            let is_split = || {
                let list = Self::ranges(self).list();
                !list.iter().any(|range| range.bounds.contains(bounds))
            };
            let news = |all: &Vec<_>| all.len() > seen || is_split();
            if changes.wait_for(news).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}
