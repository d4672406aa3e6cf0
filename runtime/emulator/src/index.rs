//! What memory holds of a collection: where each living document and each retained change lies in
//! the journal. No bodies: memory follows the number of documents, not their size.
//!
//! The index is a function of the journal's records; nothing else changes it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use tokio::sync::watch;

use crate::config::{CollectionConfig, Range};
use crate::feed::Operation;
use crate::hash::Epk;
use crate::record::{Head, Location, RangeState, Role};
use crate::ttl;

/// The order inside a range: sequence number, then place among the changes that share it, then the document's number:
/// after a merge, changes of two ranges may share a sequence number.
pub(crate) type Order = (u64, u32, u64);

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
    /// The sequence number that the last merge took; history ends there. 0 if there was none.
    pub(crate) merged_at: u64,
    pub(crate) moved: watch::Sender<u64>,
}

/// A collection's index.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) config: CollectionConfig,
    pub(crate) ranges: Vec<RangeIndex>,
    /// The number that the next new document gets.
    pub(crate) documents: u64,
    /// The number that the next new range gets.
    pub(crate) next_range: u32,
    /// Whether the collection was deleted.
    pub(crate) is_dropped: bool,
    /// While kept changes are read: the last one of each document.
    kept: HashMap<u64, Location>,
}

impl Index {
    pub(crate) fn new(config: CollectionConfig) -> Self {
        let ranges = Range::divide(config.ranges)
            .into_iter()
            .map(RangeIndex::new)
            .collect();
        Self {
            next_range: config.ranges,
            config,
            ranges,
            documents: 1,
            is_dropped: false,
            kept: HashMap::new(),
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
        let order = (head.lsn, head.place, head.document);

        let old = range.remove(identity, default_ttl);
        if head.operation != Operation::Delete {
            let living = Living::new(identity, head, location);
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

    /// Takes in where a collection stood when the journal was compacted.
    pub(crate) fn restore(&mut self, documents: u64, next_range: u32, ranges: Vec<RangeState>) {
        self.documents = documents;
        self.next_range = next_range;
        self.ranges = ranges
            .into_iter()
            .map(|state| RangeIndex {
                end: state.end,
                ts: state.ts,
                complete_after: state.complete_after,
                merged_at: state.merged_at,
                ..RangeIndex::new(state.range)
            })
            .collect();
    }

    /// Takes in a change that a compaction kept.
    pub(crate) fn keep(&mut self, identity: u128, head: &Head, role: Role, location: Location) {
        let at = self.at(head.epk);
        let previous = self.kept.insert(head.document, location);
        let range = &mut self.ranges[at];
        if role.living {
            let order = (head.lsn, head.place, head.document);
            let living = Living::new(identity, head, location);
            if let Some(at) = living.expires(self.config.default_ttl) {
                range.expiry.insert((at, order));
            }
            range.latest.insert(order, living);
            range.live.insert(identity, order);
        }
        if role.retained {
            range.log.push_back(Retained {
                lsn: head.lsn,
                epk: head.epk,
                location,
                ts: head.ts,
                previous: previous.filter(|_| head.previous),
            });
        }
    }

    /// Where the collection stands, for a compaction.
    pub(crate) fn state(&self) -> Vec<RangeState> {
        self.ranges
            .iter()
            .map(|range| RangeState {
                range: range.range.clone(),
                end: range.end,
                ts: range.ts,
                complete_after: range.complete_after,
                merged_at: range.merged_at,
            })
            .collect()
    }

    /// Every place of the journal that is still needed, in the journal's order, each once, with why.
    pub(crate) fn needed(&self) -> BTreeMap<u64, (u32, Role)> {
        let mut needed: BTreeMap<u64, (u32, Role)> = BTreeMap::new();
        let mut need = |location: Location, living: bool, retained: bool| {
            let (_, role) = needed
                .entry(location.offset)
                .or_insert((location.size, Role::default()));
            role.living |= living;
            role.retained |= retained;
        };
        for range in &self.ranges {
            for living in range.latest.values() {
                need(living.location, true, false);
            }
            for change in &range.log {
                need(change.location, false, true);
                if let Some(previous) = change.previous {
                    need(previous, false, false);
                }
            }
        }
        needed
    }

    /// Bytes of the journal that are still needed.
    pub(crate) fn needed_bytes(&self) -> u64 {
        self.needed()
            .values()
            .map(|(size, _)| u64::from(*size))
            .sum()
    }

    /// Follows what a compaction moved.
    pub(crate) fn relocate(&mut self, moved: &HashMap<u64, Location>) {
        let follow = |location: &mut Location| {
            *location = moved[&location.offset];
        };
        for range in &mut self.ranges {
            for living in range.latest.values_mut() {
                follow(&mut living.location);
            }
            for change in &mut range.log {
                follow(&mut change.location);
                if let Some(previous) = &mut change.previous {
                    follow(previous);
                }
            }
        }
    }

    /// The end of the journal was read: from here on changes are made.
    pub(crate) fn ready(&mut self) {
        self.kept = HashMap::new();
    }

    /// Deletes everything. Who waits is told.
    pub(crate) fn drop_all(&mut self) {
        self.is_dropped = true;
        for range in &mut self.ranges {
            *range = RangeIndex::new(range.range.clone());
        }
    }

    fn position(&self, id: &str) -> Result<usize, String> {
        self.ranges
            .iter()
            .position(|range| range.range.id == id)
            .ok_or_else(|| {
                let ids: Vec<_> = self
                    .ranges
                    .iter()
                    .map(|range| range.range.id.as_str())
                    .collect();
                format!("there is no range \"{id}\"; there are: {}", ids.join(", "))
            })
    }

    /// The two ranges that a split would make.
    pub(crate) fn halves(&self, parent: &str) -> Result<[Range; 2], String> {
        let range = &self.ranges[self.position(parent)?];
        let (min, max) = range.bounds;
        let middle = min
            .middle(max)
            .ok_or_else(|| format!("range \"{parent}\" is too narrow to be split"))?;
        let middle = middle.hex(1);
        let mut parents = range.range.parents.clone();
        parents.push(range.range.id.clone());
        let child = |number: u32, min: &str, max: &str| Range {
            id: number.to_string(),
            min: min.to_owned(),
            max: max.to_owned(),
            parents: parents.clone(),
        };
        Ok([
            child(self.next_range, &range.range.min, &middle),
            child(self.next_range + 1, &middle, &range.range.max),
        ])
    }

    /// The range that a merge of two neighbours would make.
    pub(crate) fn union(&self, parents: [&str; 2]) -> Result<Range, String> {
        let [left, right] = [self.position(parents[0])?, self.position(parents[1])?];
        let (left, right) = (left.min(right), left.max(right));
        if left + 1 != right {
            return Err(format!(
                "ranges \"{}\" and \"{}\" are not neighbours",
                parents[0], parents[1]
            ));
        }
        let [left, right] = [&self.ranges[left].range, &self.ranges[right].range];
        let mut ancestors = left.parents.clone();
        ancestors.extend(
            right
                .parents
                .iter()
                .filter(|id| !left.parents.contains(id))
                .cloned(),
        );
        ancestors.extend([left.id.clone(), right.id.clone()]);
        Ok(Range {
            id: self.next_range.to_string(),
            min: left.min.clone(),
            max: right.max.clone(),
            parents: ancestors,
        })
    }

    /// Splits a range. The children go on with the parent's sequence numbers and history.
    pub(crate) fn split(&mut self, parent: &str, children: [Range; 2]) -> Result<(), String> {
        let at = self.position(parent)?;
        let parent = self.ranges.remove(at);
        let mut children = children.map(|range| RangeIndex {
            end: parent.end,
            ts: parent.ts,
            complete_after: parent.complete_after,
            merged_at: parent.merged_at,
            moved: watch::Sender::new(parent.end),
            ..RangeIndex::new(range)
        });
        let bound = children[0].bounds.1;
        for (order, living) in parent.latest {
            let child = &mut children[usize::from(living.epk >= bound)];
            if let Some(at) = living.expires(self.config.default_ttl) {
                child.expiry.insert((at, order));
            }
            child.live.insert(living.identity, order);
            child.latest.insert(order, living);
        }
        for change in parent.log {
            children[usize::from(change.epk >= bound)]
                .log
                .push_back(change);
        }
        self.next_range += 2;
        let [left, right] = children;
        self.ranges.insert(at, right);
        self.ranges.insert(at, left);
        Ok(())
    }

    /// Merges two neighbours. Their documents keep their sequence numbers; new ones follow the greater end. The merge
    /// takes a number itself, so that every earlier position lies before it, and ends history.
    pub(crate) fn merge(&mut self, parents: [&str; 2], child: Range) -> Result<(), String> {
        let [one, other] = [self.position(parents[0])?, self.position(parents[1])?];
        let at = one.min(other);
        let [left, right] = [self.ranges.remove(at), self.ranges.remove(at)];
        let end = left.end.max(right.end) + 1;
        let mut merged = RangeIndex {
            end,
            ts: left.ts.max(right.ts),
            complete_after: end,
            merged_at: end,
            moved: watch::Sender::new(end),
            ..RangeIndex::new(child)
        };
        for mut parent in [left, right] {
            merged.latest.append(&mut parent.latest);
            merged.live.extend(parent.live.drain());
            merged.expiry.append(&mut parent.expiry);
        }
        self.next_range += 1;
        self.ranges.insert(at, merged);
        Ok(())
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
    pub(crate) fn new(identity: u128, head: &Head, location: Location) -> Self {
        Self {
            identity,
            epk: head.epk,
            location,
            ts: head.ts,
            document: head.document,
            ttl: head.ttl,
        }
    }

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
            merged_at: 0,
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
            .range(..(now.saturating_add(1), (0, 0, 0)))
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
