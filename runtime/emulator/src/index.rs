//! What memory holds of a collection: where each living document and each retained change lies in
//! the journal. No bodies: memory follows the number of documents, not their size.
//!
//! The index is a function of the journal's records; nothing else changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use tokio::sync::watch;

use crate::config::{CollectionConfig, Range};
use crate::feed::Operation;
use crate::hash::Epk;
use crate::record::{Head, Location};
use crate::ttl;

/// The order inside a range: sequence number, then place among the changes that share it.
pub(crate) type Order = (u64, u32);

/// The newest version of a living document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Living {
    pub(crate) identity: u128,
    pub(crate) epk: Epk,
    pub(crate) location: Location,
    pub(crate) ts: i64,
    pub(crate) document: u64,
    pub(crate) ttl: i32,
}

/// A change that the all-versions feed still shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retained {
    pub(crate) lsn: u64,
    pub(crate) epk: Epk,
    pub(crate) location: Location,
    pub(crate) ts: i64,
    pub(crate) previous: Option<Location>,
}

/// One physical range.
#[derive(Debug)]
pub(crate) struct RangeIndex {
    pub(crate) range: Range,
    pub(crate) bounds: (Epk, Epk),
    /// The newest sequence number.
    pub(crate) end: u64,
    /// The newest time stamp: they never fall inside a range, whatever the clock does.
    pub(crate) ts: i64,
    pub(crate) latest: BTreeMap<Order, Living>,
    pub(crate) live: HashMap<u128, Order>,
    expiry: BTreeSet<(i64, Order)>,
    pub(crate) log: VecDeque<Retained>,
    /// Every change after this sequence number is in the log.
    pub(crate) complete_after: u64,
    pub(crate) moved: watch::Sender<u64>,
}

/// A collection's index.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) config: CollectionConfig,
    pub(crate) ranges: Vec<RangeIndex>,
    /// The number that the next new document gets.
    pub(crate) documents: u64,
}

impl Index {
    pub(crate) fn new(config: CollectionConfig) -> Self {
        let ranges = Range::divide(config.ranges)
            .into_iter()
            .map(RangeIndex::new)
            .collect();
        Self {
            config,
            ranges,
            documents: 1,
        }
    }

    /// The range of a place in the key space.
    pub(crate) fn at(&self, epk: Epk) -> usize {
        self.ranges.partition_point(|range| range.bounds.1 <= epk)
    }

    /// The physical range that holds all of `[min, max)`.
    pub(crate) fn holding(&self, min: Epk, max: Epk) -> Option<&RangeIndex> {
        let range = self.ranges.get(self.at(min))?;
        (min < max && max <= range.bounds.1).then_some(range)
    }

    /// Takes in a change of the journal.
    pub(crate) fn apply(&mut self, identity: u128, head: &Head, location: Location) {
        let at = self.at(head.epk);
        let window = self.config.window();
        let default_ttl = self.config.default_ttl;
        self.documents = self.documents.max(head.document + 1);
        let range = &mut self.ranges[at];
        let order = (head.lsn, head.place);

        let old = range.remove(identity, default_ttl);
        if head.operation != Operation::Delete {
            let living = Living {
                identity,
                epk: head.epk,
                location,
                ts: head.ts,
                document: head.document,
                ttl: head.ttl,
            };
            if let Some(at) = living.expires(default_ttl) {
                range.expiry.insert((at, order));
            }
            range.latest.insert(order, living);
            range.live.insert(identity, order);
        }
        range.end = head.lsn;
        range.ts = range.ts.max(head.ts);
        if window.is_some() {
            range.log.push_back(Retained {
                lsn: head.lsn,
                epk: head.epk,
                location,
                ts: head.ts,
                previous: old.filter(|_| head.previous).map(|old| old.location),
            });
        } else {
            // From here on history has a gap; what lies before it is of no use.
            range.log.clear();
            range.complete_after = head.lsn;
        }
        range.prune(window, head.ts);
    }

    /// Tells the waiting readers.
    pub(crate) fn announce(&self) {
        for range in &self.ranges {
            range.moved.send_if_modified(|end| {
                let moved = *end != range.end;
                *end = range.end;
                moved
            });
        }
    }

    /// A window that is taken away takes no history with it: only what is written without one is
    /// missing later.
    pub(crate) fn reconfigure(&mut self, config: CollectionConfig) {
        self.config = config;
        for range in &mut self.ranges {
            range.expiry.clear();
            for (order, living) in &range.latest {
                if let Some(at) = living.expires(self.config.default_ttl) {
                    range.expiry.insert((at, *order));
                }
            }
        }
    }

    /// Whether something waits to be purged or forgotten.
    pub(crate) fn is_due(&self, now: i64) -> bool {
        let window = self.config.window();
        self.ranges
            .iter()
            .any(|range| range.expired(now).next().is_some() || range.outdated(window, now) > 0)
    }

    pub(crate) fn prune(&mut self, now: i64) {
        let window = self.config.window();
        for range in &mut self.ranges {
            range.prune(window, now);
        }
    }

    /// The number of documents that a read would find.
    pub(crate) fn count(&self, now: i64) -> u64 {
        self.ranges
            .iter()
            .map(|range| (range.live.len() - range.expired(now).count()) as u64)
            .sum()
    }
}

impl Living {
    /// When it expires, in seconds of the epoch.
    pub(crate) fn expires(&self, default_ttl: Option<i32>) -> Option<i64> {
        ttl::expires(default_ttl, self.ttl, self.ts)
    }
}

impl RangeIndex {
    fn new(range: Range) -> Self {
        Self {
            bounds: range.bounds(),
            range,
            end: 0,
            ts: i64::MIN,
            latest: BTreeMap::new(),
            live: HashMap::new(),
            expiry: BTreeSet::new(),
            log: VecDeque::new(),
            complete_after: 0,
            moved: watch::Sender::new(0),
        }
    }

    /// A living document and the sequence number of its newest version.
    pub(crate) fn find(&self, identity: u128) -> Option<(u64, Living)> {
        let order = self.live.get(&identity)?;
        Some((order.0, *self.latest.get(order)?))
    }

    fn remove(&mut self, identity: u128, default_ttl: Option<i32>) -> Option<Living> {
        let order = self.live.remove(&identity)?;
        let living = self.latest.remove(&order)?;
        if let Some(at) = living.expires(default_ttl) {
            self.expiry.remove(&(at, order));
        }
        Some(living)
    }

    /// The documents that have expired but are not yet purged, the longest expired first.
    pub(crate) fn expired(&self, now: i64) -> impl Iterator<Item = &Living> {
        self.expiry
            .range(..(now.saturating_add(1), (0, 0)))
            .filter_map(|(_, order)| self.latest.get(order))
    }

    /// How many changes of the log lie before the retention window.
    pub(crate) fn outdated(&self, window: Option<i64>, now: i64) -> usize {
        window.map_or(0, |window| {
            let oldest = now.saturating_sub(window);
            self.log.partition_point(|change| change.ts < oldest)
        })
    }

    fn prune(&mut self, window: Option<i64>, now: i64) {
        let outdated = self.outdated(window, now);
        if let Some(change) = self.log.drain(..outdated).next_back() {
            self.complete_after = change.lsn;
        }
        if self.log.capacity() > 1024 && self.log.len() < self.log.capacity() / 4 {
            self.log.shrink_to_fit();
        }
    }
}
