//! The SDK's iterators, kept between reads: one for a lease, at the position that it reached.
//!
//! Bounded in number: of more than so many the one not used for longest is dropped, and made anew when it is missed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use azure_data_cosmos::feed::ChangeFeedPageIterator;
use azure_data_cosmos::models::ChangeFeedItem;
use projectionist::needs::Mode;

use super::item::Body;
use crate::position::{Bounds, Position};

/// An iterator, and what it has seen of its range.
pub(super) struct Reader {
    pub(super) pages: ChangeFeedPageIterator<ChangeFeedItem<Body>>,
    /// Empty answers since the last change.
    pub(super) quiet: usize,
    /// The physical range that answered last.
    pub(super) physical: Option<String>,
}

/// What an iterator was made for. Another page size is another iterator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) bounds: Bounds,
    pub(super) mode: Mode,
    pub(super) position: Position,
    pub(super) items: u32,
}

/// The iterators of a feed.
#[derive(Default)]
pub(super) struct Readers(Mutex<Shelf>);

#[derive(Default)]
struct Shelf {
    readers: HashMap<Place, (u64, Reader)>,
    limits: HashMap<Bounds, Limit>,
    /// Changes in a row that could not be read, and the position behind the last of them.
    unread: HashMap<Bounds, (u32, Position)>,
    tick: u64,
}

/// A page size that proved too large, halved until it was not.
#[derive(Clone, Copy)]
struct Limit {
    items: u32,
    /// Pages that fitted since.
    fitted: u32,
}

impl Readers {
    const MOST: usize = 512;
    /// After so many pages that fitted, twice as many items are tried.
    const RESTORE: u32 = 8;

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self, place: &Place) -> Option<Reader> {
        self.lock().readers.remove(place).map(|(_, reader)| reader)
    }

    pub(super) fn keep(&self, place: Place, reader: Reader) {
        let mut kept = self.lock();
        if kept.readers.len() >= Self::MOST && !kept.readers.contains_key(&place) {
            let oldest = kept.readers.iter().min_by_key(|(_, (tick, _))| *tick);
            if let Some(oldest) = oldest.map(|(place, _)| place.clone()) {
                kept.readers.remove(&oldest);
            }
        }
        kept.tick += 1;
        let tick = kept.tick;
        kept.readers.insert(place, (tick, reader));
    }

    /// How many items to ask for, where `wanted` are.
    pub(super) fn items(&self, bounds: &Bounds, wanted: u32) -> u32 {
        let kept = self.lock();
        let limit = kept.limits.get(bounds);
        limit.map_or(wanted, |limit| limit.items.min(wanted)).max(1)
    }

    /// So many were too many. False: there is nothing smaller.
    pub(super) fn halve(&self, bounds: &Bounds, items: u32) -> bool {
        let limit = Limit {
            items: (items / 2).max(1),
            fitted: 0,
        };
        self.lock().limits.insert(bounds.clone(), limit);
        items > 1
    }

    /// Counts a change that cannot be read, and says how many there were in a row before it: `most` at most. Read again, it
    /// counts once.
    pub(super) fn unread(&self, bounds: &Bounds, after: &Position, most: u32) -> u32 {
        let mut kept = self.lock();
        let (count, last) = kept
            .unread
            .entry(bounds.clone())
            .or_insert_with(|| (0, after.clone()));
        if *count == 0 || last != after && *count < most {
            *count += 1;
            last.clone_from(after);
            return *count - 1;
        }
        if last == after { *count - 1 } else { *count }
    }

    /// A change was read.
    pub(super) fn understood(&self, bounds: &Bounds) {
        self.lock().unread.remove(bounds);
    }

    /// A page fitted. What was halved grows back, up to what is wanted.
    pub(super) fn fitted(&self, bounds: &Bounds, wanted: u32) {
        let mut kept = self.lock();
        let Some(limit) = kept.limits.get_mut(bounds) else {
            return;
        };
        limit.fitted += 1;
        if limit.fitted >= Self::RESTORE {
            limit.fitted = 0;
            limit.items = limit.items.saturating_mul(2);
            if limit.items >= wanted {
                kept.limits.remove(bounds);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_counted_once_and_in_a_row() {
        let readers = Readers::default();
        let bounds = Bounds::whole();
        let unread = |after: u32| readers.unread(&bounds, &Position::new(after.to_string()), 2);
        assert_eq!([unread(1), unread(1), unread(2), unread(2)], [0, 0, 1, 1]);
        assert_eq!([unread(3), unread(4), unread(3)], [2, 2, 2], "no more");
        assert_eq!(unread(2), 1, "this one was counted");
        readers.understood(&bounds);
        assert_eq!([unread(5), unread(6)], [0, 1]);
    }

    #[test]
    fn a_page_size_is_halved_and_grows_back() {
        let readers = Readers::default();
        let bounds = Bounds {
            min: String::new(),
            max: "FF".to_owned(),
        };
        assert_eq!(readers.items(&bounds, 100), 100);
        assert!(readers.halve(&bounds, 100));
        assert!(readers.halve(&bounds, 50));
        assert_eq!(readers.items(&bounds, 100), 25);
        assert_eq!(readers.items(&bounds, 10), 10);
        for _ in 0..Readers::RESTORE {
            readers.fitted(&bounds, 100);
        }
        assert_eq!(readers.items(&bounds, 100), 50);
        for _ in 0..Readers::RESTORE {
            readers.fitted(&bounds, 100);
        }
        assert_eq!(readers.items(&bounds, 100), 100);
        assert!(!readers.halve(&bounds, 1), "nothing is smaller than one");
    }
}
