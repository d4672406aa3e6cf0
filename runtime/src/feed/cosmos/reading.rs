//! Reading pages, and pinning `now`.
//!
//! P5: a position is the token after a page that arrived. P12: a pin stands when every physical range inside the bounds
//! has answered once, and nothing that came meanwhile is passed over.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::time::Duration;

use azure_core::time::OffsetDateTime;
use azure_data_cosmos::feed::{ContinuationToken, FeedPage as SdkPage, FeedRange as SdkRange};
use azure_data_cosmos::models::{ChangeFeedItem, EffectivePartitionKey, ResponseHeaders};
use azure_data_cosmos::options::{
    ChangeFeedMode, ChangeFeedOptions, ChangeFeedStartFrom, MaxItemCountHint, OperationOptions,
};
use azure_data_cosmos::{CosmosError, FeedScope};
use futures_util::StreamExt;
use projectionist::needs::Mode;

use super::fault::Fault;
use super::item::{self, Body};
use super::reader::{Place, Reader};
use super::{CosmosFeed, account};
use crate::apply::chain;
use crate::feed::{FeedError, FeedPage, From, Read};
use crate::position::{Bounds, Position};

/// How often a read that meets a split under way is tried before the pump is told to wait.
const SPLIT_TRIES: u32 = 6;
/// The first pause between those; it doubles.
const SPLIT_PAUSE: Duration = Duration::from_millis(50);
/// So many changes in a row that cannot be read are passed over.
const UNREADABLE: u32 = 10;
/// How often a pin that was overtaken by writes and splits is begun anew.
const PINS: u32 = 10;

type Page = SdkPage<ChangeFeedItem<Body>>;

impl CosmosFeed {
    /// One page with changes, or the certainty that there are none now.
    ///
    /// A page that does not decode is asked for again by halves, until the change that is to blame comes alone.
    pub(super) async fn page(&self, read: &Read<'_>) -> Result<FeedPage, FeedError> {
        if read.from == From::Now {
            return self.pin(read.bounds, read.mode).await;
        }
        let position = match &read.from {
            From::Position(position) => Some(position),
            _ => None,
        };
        let mut splits = 0;
        let mut is_lenient = false;
        loop {
            let items = self.readers.items(read.bounds, read.max_items);
            match self.attempt(read, items, is_lenient).await {
                Ok((page, is_new)) => {
                    if page.range_changed || is_new {
                        self.unmerged(read).await?;
                    }
                    self.readers.fitted(read.bounds, read.max_items);
                    if !page.changes.is_empty() {
                        self.readers.understood(read.bounds);
                    }
                    return Ok(page);
                }
                Err(Fault::Unreadable(_)) if !is_lenient => is_lenient = true,
                Err(Fault::TooLarge(_) | Fault::Unreadable(_))
                    if self.readers.halve(read.bounds, items) => {}
                Err(Fault::Undecodable { error, after }) => {
                    return self.passed_over(read, error, after);
                }
                Err(Fault::Merged(_)) => return Err(self.merged(read)),
                Err(Fault::Splitting(_)) if splits < SPLIT_TRIES => {
                    self.clock.sleep(SPLIT_PAUSE * (1 << splits)).await;
                    splits += 1;
                }
                Err(fault) => {
                    // The service has its own words for this, if any: the ranges tell.
                    self.unmerged(read).await?;
                    return Err(self.judge(fault, position).await);
                }
            }
        }
    }

    /// P19: under all versions a merge is terminal. A lease that is a part of a physical range was whole once.
    async fn unmerged(&self, read: &Read<'_>) -> Result<(), FeedError> {
        if read.mode == Mode::LatestVersion {
            return Ok(());
        }
        let Ok(ranges) = self.physical(read.bounds).await else {
            return Ok(());
        };
        let Bounds { min, max } = read.bounds;
        if ranges
            .iter()
            .all(|range| range.min >= *min && range.max <= *max)
        {
            return Ok(());
        }
        Err(self.merged(read))
    }

    fn merged(&self, read: &Read<'_>) -> FeedError {
        FeedError::Merged {
            collection: self.target.collection.clone(),
            bounds: read.bounds.clone(),
        }
    }

    /// A page of one change that cannot be read, for a letter (I1). Where one follows on another without end, it is not
    /// theirs to be passed over: the service or this client has changed (P26).
    fn passed_over(
        &self,
        read: &Read<'_>,
        error: CosmosError,
        after: Position,
    ) -> Result<FeedPage, FeedError> {
        let before = self.readers.unread(read.bounds, &after, UNREADABLE);
        if before == UNREADABLE {
            return Err(FeedError::Unreadable {
                collection: self.target.collection.clone(),
                bounds: read.bounds.clone(),
                changes: before,
                source: error.into(),
            });
        }
        Ok(FeedPage {
            changes: Vec::new(),
            position: after,
            caught_up: false,
            range_changed: false,
            unreadable: Some(chain(&error).join(": ")),
        })
    }

    /// Reads with the iterator of before, or with a new one, and says which. After an error it is not kept.
    async fn attempt(
        &self,
        read: &Read<'_>,
        items: u32,
        is_lenient: bool,
    ) -> Result<(FeedPage, bool), Fault> {
        let place = |position| Place {
            bounds: read.bounds.clone(),
            mode: read.mode,
            position,
            items,
        };
        let kept = match &read.from {
            From::Position(position) => self.readers.take(&place(position.clone())),
            _ => None,
        };
        let is_new = kept.is_none();
        let mut reader = if let Some(reader) = kept {
            reader
        } else {
            let options = if is_lenient {
                account::leniency()
            } else {
                account::patience()
            };
            self.reader(read.bounds, read.mode, &read.from, items, options)
                .await?
        };
        let before = reader.physical.clone();
        let mut range_changed = false;
        loop {
            let page = match next(&mut reader).await {
                // The SDK has moved on before it decodes: what it could not is behind its token.
                Err(Fault::Unreadable(error)) if is_lenient && items == 1 => {
                    let after = token(&reader)?;
                    return Err(Fault::Undecodable { error, after });
                }
                page => page?,
            };
            let physical = page.headers().partition_key_range_id();
            range_changed |= before.as_deref().is_some_and(|id| physical != Some(id));
            if let Some(id) = physical {
                reader.physical = Some(id.to_owned());
            }
            let caught_up = if page.items().is_empty() {
                reader.quiet += 1;
                // P12: the ranges inside are asked in turn, and one that is silent says nothing of the others.
                reader.quiet >= self.physical(read.bounds).await?.len().max(1)
            } else {
                reader.quiet = 0;
                false
            };
            if page.items().is_empty() && !caught_up {
                continue;
            }
            let position = token(&reader)?;
            let changes = item::changes(page.items(), read.mode, &self.keys);
            self.readers.keep(place(position.clone()), reader);
            let page = FeedPage {
                changes,
                position,
                caught_up,
                range_changed,
                unreadable: None,
            };
            return Ok((page, is_new));
        }
    }

    /// A new iterator.
    async fn reader(
        &self,
        bounds: &Bounds,
        mode: Mode,
        from: &From,
        items: u32,
        options: OperationOptions,
    ) -> Result<Reader, Fault> {
        let mut options = ChangeFeedOptions::default()
            .with_mode(match mode {
                Mode::LatestVersion => ChangeFeedMode::LatestVersion,
                Mode::AllVersionsAndDeletes => ChangeFeedMode::AllVersionsAndDeletes,
            })
            .with_operation_options(options);
        if let Some(items) = NonZeroU32::new(items) {
            options = options.with_max_item_count(MaxItemCountHint::Limit(items));
        }
        let start = match from {
            From::Beginning => ChangeFeedStartFrom::Beginning,
            From::Now => ChangeFeedStartFrom::Now,
            // The service's times are exclusive and count whole seconds; ours include theirs.
            From::Time(time) => {
                let seconds = time.as_second().saturating_sub(1);
                OffsetDateTime::from_unix_timestamp(seconds).map_or(
                    ChangeFeedStartFrom::Beginning,
                    ChangeFeedStartFrom::PointInTime,
                )
            }
            From::Position(position) => {
                let token = ContinuationToken::from_string(position.as_str().to_owned());
                options = options.with_continuation_token(token);
                ChangeFeedStartFrom::Beginning
            }
        };
        let scope = FeedScope::range(SdkRange::new(
            EffectivePartitionKey::try_from(bounds.min.as_str())?,
            EffectivePartitionKey::try_from(bounds.max.as_str())?,
        )?);
        let pages = self
            .container
            .query_change_feed::<Body>(scope, start, Some(options))
            .await?;
        Ok(Reader {
            pages,
            quiet: 0,
            physical: None,
        })
    }

    /// Pins `now` (P12). The page is empty: what came while ranges were still being asked is after its position.
    pub(super) async fn pin(&self, bounds: &Bounds, mode: Mode) -> Result<FeedPage, FeedError> {
        for tried in 0..PINS {
            if tried > 0 {
                self.clock.sleep(SPLIT_PAUSE * (1 << tried)).await;
            }
            match self.pinned(bounds, mode).await {
                Ok(Some(position)) => {
                    return Ok(FeedPage {
                        changes: Vec::new(),
                        position,
                        caught_up: true,
                        range_changed: false,
                        unreadable: None,
                    });
                }
                Ok(None) | Err(Fault::Splitting(_)) => {}
                Err(fault) => return Err(self.judge(fault, None).await),
            }
        }
        Err(FeedError::Unavailable {
            collection: self.target.collection.clone(),
            source: format!("range {bounds} is being split over and over").into(),
        })
    }

    /// A position from which nothing is skipped. None: a change came before all ranges had answered, and the position from
    /// before it would leave the others to begin when it is used.
    async fn pinned(&self, bounds: &Bounds, mode: Mode) -> Result<Option<Position>, Fault> {
        let mut reader = self
            .reader(bounds, mode, &From::Now, 1, account::patience())
            .await?;
        let mut answered = HashSet::new();
        let mut position = None;
        for asked in 0_usize.. {
            let page = next(&mut reader).await?;
            let ranges = self.physical(bounds).await?.len();
            let all = answered.len() >= ranges;
            if !page.items().is_empty() {
                return Ok(position.filter(|_| all));
            }
            position = Some(token(&reader)?);
            let is_new = match page.headers().partition_key_range_id() {
                Some(id) => answered.insert(id.to_owned()),
                // Asked in turn, they need no names.
                None => answered.insert(format!("#{asked}")) && !all,
            };
            if all && !is_new {
                return Ok(position);
            }
            if asked > 4 * ranges + 8 {
                break;
            }
        }
        Ok(None)
    }

    /// The newest sequence number inside bounds: what a reader from now is told.
    pub(super) async fn head(&self, bounds: &Bounds) -> Result<u64, Fault> {
        let mut reader = self
            .reader(
                bounds,
                Mode::LatestVersion,
                &From::Now,
                1,
                account::patience(),
            )
            .await?;
        let mut newest = 0;
        for _ in self.physical(bounds).await? {
            let page = next(&mut reader).await?;
            newest = newest.max(newest_in(page.headers()).unwrap_or_default());
        }
        Ok(newest)
    }

    /// Sequence numbers between a position and the newest. They count writes of the whole physical range.
    pub(super) async fn behind(
        &self,
        bounds: &Bounds,
        mode: Mode,
        position: &Position,
    ) -> Result<Option<u64>, FeedError> {
        let from = From::Position(position.clone());
        let counted = async {
            let mut reader = self
                .reader(bounds, mode, &from, 1, account::patience())
                .await?;
            let mut behind = 0;
            for _ in self.physical(bounds).await? {
                let page = next(&mut reader).await?;
                let newest = newest_in(page.headers());
                let first = item::changes(page.items(), mode, &self.keys);
                behind += match (first.first().map(|change| change.sequence), newest) {
                    (None, _) => 0,
                    (Some(Some(first)), Some(newest)) => newest.saturating_sub(first) + 1,
                    _ => return Ok(None),
                };
            }
            Ok(Some(behind))
        };
        match counted.await {
            Ok(behind) => Ok(behind),
            // The next change cannot be read, and the page that would tell with it.
            Err(Fault::Unreadable(_)) => Ok(None),
            Err(fault) => Err(self.judge(fault, Some(position)).await),
        }
    }
}

/// The next page. Physical ranges that answer nothing give an empty one.
async fn next(reader: &mut Reader) -> Result<Page, Fault> {
    match reader.pages.next().await {
        Some(page) => Ok(page?),
        // Only after an error, and then the iterator is not kept.
        None => Err(Fault::Transient(
            CosmosError::builder()
                .with_message("the feed's iterator has ended")
                .build(),
        )),
    }
}

fn token(reader: &Reader) -> Result<Position, Fault> {
    Ok(Position::new(
        reader.pages.to_continuation_token()?.as_str().to_owned(),
    ))
}

/// The newest sequence number of the range that answered: from its header, else from the session token,
/// `{range}:{version}#{number}#…`.
fn newest_in(headers: &ResponseHeaders) -> Option<u64> {
    headers.lsn().or_else(|| {
        let token = headers.session_token()?;
        let text: &str = token.as_ref();
        text.split('#').nth(1)?.parse().ok()
    })
}
