//! `status`: where each projection stands, from the store, the coordination and the feeds, whether
//! or not an instance runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SpanRound, Timestamp, Unit};
use projectionist::registry::Registry;
use serde_json::{Value, json};

use super::exit::Exit;
use super::output::{note, print, print_json, table};
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::coordination::{PumpReport, PumpState};
use crate::feed::{Feed, From, Read};
use crate::letters::{Letter, LetterFilter};
use crate::local::{Access, Local};
use crate::parts;
use crate::position::{Bounds, LeaseId, Position};
use crate::problem::{Problem, Problems};
use crate::remote;
use crate::store::{Checkpoint, Store, StoreError};

/// What is known of one range of one projection.
struct Standing {
    checkpoint: Checkpoint,
    report: Option<PumpReport>,
    /// None: the feed cannot be reached, or cannot tell.
    backlog: Option<u64>,
    /// When the oldest change that is not applied was written.
    waiting_since: Option<Timestamp>,
    letters: usize,
}

pub(crate) async fn status(
    config: &Config,
    registry: &Registry,
    as_json: bool,
) -> Result<Exit, Problems> {
    let now = SystemClock.now();
    let holder = parts::holder(config).await?;
    let store = parts::look(config).await?;
    let standings = match &store {
        Some(store) => standings(config, registry, &**store, holder.is_some()).await?,
        None => Vec::new(),
    };
    let stored = |name: &str| {
        standings
            .iter()
            .any(|standing| standing.checkpoint.projection.name == name)
    };
    let fresh: Vec<&str> = registry
        .iter()
        .map(|def| def.spec.name)
        .filter(|name| !stored(name))
        .collect();
    if as_json {
        let instance = holder.map(|holder| holder.name);
        let known = standings.iter().map(|one| describe(one, now));
        let fresh = fresh
            .iter()
            .map(|name| json!({ "projection": name, "state": "never started" }));
        let lines: Vec<Value> = known
            .chain(fresh)
            .map(|mut line| {
                line["instance"] = json!(instance);
                line
            })
            .collect();
        print_json(&lines)?;
        return Ok(Exit::Ok);
    }
    match &holder {
        Some(holder) => print(&format!(
            "instance {} (process {}) runs since {}\n\n",
            holder.name,
            holder.pid,
            holder.started_at.strftime("%Y-%m-%d %H:%M:%S UTC")
        ))?,
        None => print("no instance runs\n\n")?,
    }
    if !standings.is_empty() {
        let rows: Vec<_> = standings.iter().map(|one| row(one, now)).collect();
        let titles = [
            "PROJECTION",
            "RANGE",
            "STATE",
            "POSITION",
            "BACKLOG",
            "LAG",
            "ATTEMPTS",
            "LETTERS",
            "ERROR",
        ];
        print(&table(&titles, &rows))?;
    }
    for name in fresh {
        note(&format!("projection {name} has never been started\n"));
    }
    Ok(Exit::Ok)
}

fn failed(error: StoreError) -> Problem {
    parts::store_problem("the status cannot be read", error)
}

async fn standings(
    config: &Config,
    registry: &Registry,
    store: &dyn Store,
    is_running: bool,
) -> Result<Vec<Standing>, Problem> {
    let mut reports = Vec::new();
    if let Some(rolls) = parts::look_at_rolls(config).await? {
        for roll in rolls.rolls().await.map_err(failed)? {
            reports.extend(roll.pumps);
        }
    }
    if !is_running {
        // Where it stood when it ended, or died, is history; what it failed with is still to be mended.
        for report in &mut reports {
            if report.state != PumpState::Failed {
                report.state = PumpState::Stopped;
            }
            report.retry_at = None;
        }
    }
    let checkpoints = store.checkpoints().await.map_err(failed)?;
    let letters = store.letters(&LetterFilter::default()).await;
    let letters = count(&letters.map_err(failed)?, &checkpoints);
    let view = match View::open(config, registry).await {
        Ok(view) => view,
        Err(problem) => {
            note(&format!("the collections cannot be reached: {problem}\n"));
            View::default()
        }
    };
    let mut standings = Vec::new();
    for checkpoint in checkpoints {
        let (backlog, waiting_since) = view.behind(&checkpoint).await;
        standings.push(Standing {
            report: reports
                .iter()
                .find(|report: &&PumpReport| {
                    report.projection == checkpoint.projection && report.bounds == checkpoint.bounds
                })
                .cloned(),
            backlog,
            waiting_since,
            letters: letters.get(&checkpoint.lease).copied().unwrap_or(0),
            checkpoint,
        });
    }
    Ok(standings)
}

/// Letters by lease. One of a range that was split since counts with the first of those that its range came to, so that
/// the sum is right: which of them has its key, the store does not know.
fn count(letters: &[Letter], checkpoints: &[Checkpoint]) -> BTreeMap<LeaseId, usize> {
    let mut counts = BTreeMap::new();
    for Letter { content, .. } in letters {
        let home = checkpoints.iter().find(|checkpoint| {
            checkpoint.projection == content.projection
                && checkpoint.bounds.overlaps(&content.bounds)
        });
        if let Some(home) = home {
            *counts.entry(home.lease.clone()).or_default() += 1;
        }
    }
    counts
}

/// What can be seen of the collections. Nothing is made: without a journal there is nothing to see.
#[derive(Default)]
struct View {
    /// By [`Source::path`](crate::position::Source::path).
    feeds: BTreeMap<String, Arc<dyn Feed>>,
    /// What their owner says, where that is another process.
    ends: BTreeMap<(String, Bounds), u64>,
}

impl View {
    async fn open(config: &Config, registry: &Registry) -> Result<Self, Problem> {
        // Without an answer the rest is still worth showing.
        let defs: Vec<_> = registry.iter().collect();
        if let Some(feeds) = remote::reachable(config, &defs).await {
            return Ok(Self {
                feeds: by_path(feeds),
                ends: BTreeMap::new(),
            });
        }
        if !Local::exists(&config.data_dir) {
            return Ok(Self::default());
        }
        let access = Access::open(config, "status").await?;
        let feeds = access.feeds();
        Ok(Self {
            feeds: by_path(feeds),
            ends: access.ends().await?,
        })
    }

    /// How many changes a range is behind, and since when the oldest waits.
    async fn behind(&self, checkpoint: &Checkpoint) -> (Option<u64>, Option<Timestamp>) {
        let path = &checkpoint.projection.collection;
        if let Some(feed) = self.feeds.get(path) {
            return behind(feed, checkpoint).await;
        }
        let position = checkpoint.position.as_ref();
        let done = position.and_then(|position| position.as_str().parse::<u64>().ok());
        // Its bounds are a part of a range that was merged, or span several into which its own was split.
        let ends: Vec<_> = self
            .ends
            .iter()
            .filter(|((of, range), _)| of == path && range.overlaps(&checkpoint.bounds))
            .map(|(_, end)| *end)
            .collect();
        let backlog = done.filter(|_| !ends.is_empty());
        let backlog = backlog.map(|done| ends.iter().map(|end| end.saturating_sub(done)).sum());
        (backlog, None)
    }
}

fn by_path(feeds: BTreeMap<String, Arc<dyn Feed>>) -> BTreeMap<String, Arc<dyn Feed>> {
    feeds
        .into_values()
        .map(|feed| (feed.source().path(), feed))
        .collect()
}

/// How many changes a range is behind, and since when the oldest waits.
async fn behind(feed: &Arc<dyn Feed>, checkpoint: &Checkpoint) -> (Option<u64>, Option<Timestamp>) {
    let Checkpoint {
        bounds,
        mode,
        position,
        ..
    } = checkpoint;
    let (from, backlog) = match position {
        Some(position) => (
            From::Position(position.clone()),
            feed.backlog(bounds, *mode, position).await.ok().flatten(),
        ),
        // Nothing was read yet: everything from the start on waits.
        None => match checkpoint.start.parse() {
            Ok(time) => (From::Time(time), None),
            Err(_) => (From::Beginning, None),
        },
    };
    if backlog == Some(0) {
        return (backlog, None);
    }
    let read = Read {
        bounds,
        mode: *mode,
        from,
        max_items: 1,
    };
    match feed.read(read).await {
        Ok(page) => {
            let first = page.changes.first().map(|change| change.timestamp);
            (if first.is_none() { Some(0) } else { backlog }, first)
        }
        Err(_) => (backlog, None),
    }
}

impl Standing {
    fn state(&self) -> PumpState {
        self.report
            .as_ref()
            .map_or(PumpState::Stopped, |report| report.state)
    }

    /// Seconds behind. None: not known.
    fn lag(&self, now: Timestamp) -> Option<i64> {
        match (self.backlog, self.waiting_since) {
            (Some(0), _) => Some(0),
            (_, Some(since)) => Some(now.duration_since(since).as_secs().max(0)),
            _ => None,
        }
    }
}

fn describe(standing: &Standing, now: Timestamp) -> Value {
    let checkpoint = &standing.checkpoint;
    let report = standing.report.as_ref();
    json!({
        "projection": checkpoint.projection.name,
        "collection": checkpoint.projection.collection,
        "range": checkpoint.bounds.to_string(),
        "mode": checkpoint.mode.as_str(),
        "start": checkpoint.start,
        "state": standing.state().as_str(),
        "since": report.map(|report| report.since.to_string()),
        "position": checkpoint.position.as_ref().map(ToString::to_string),
        "checkpoint_at": checkpoint.changed_at.to_string(),
        "backlog": standing.backlog,
        "lag_seconds": standing.lag(now),
        "attempts": report.map_or(0, |report| report.attempts),
        "error": report.map(|report| report.error.as_str()).filter(|error| !error.is_empty()),
        "retry_at": report.and_then(|report| report.retry_at).map(|at| at.to_string()),
        "applied": report.map(|report| report.applied),
        "letters": standing.letters,
    })
}

fn row(standing: &Standing, now: Timestamp) -> Vec<String> {
    let checkpoint = &standing.checkpoint;
    let report = standing.report.as_ref();
    let unknown = || "?".to_owned();
    vec![
        checkpoint.projection.name.clone(),
        short(&checkpoint.bounds),
        standing.state().to_string(),
        checkpoint
            .position
            .as_ref()
            .map_or_else(|| checkpoint.start.clone(), brief),
        standing.backlog.map_or_else(unknown, |n| n.to_string()),
        standing.lag(now).map_or_else(unknown, duration),
        report.map_or(0, |report| report.attempts).to_string(),
        standing.letters.to_string(),
        report
            .map(|report| report.error.clone())
            .unwrap_or_default(),
    ]
}

/// A position as far as it fits: some feeds' are long, and say nothing to people.
fn brief(position: &Position) -> String {
    const FITS: usize = 24;
    const SHOWN: usize = 8;
    let text = position.as_str();
    if text.chars().count() <= FITS {
        return text.to_owned();
    }
    let start: String = text.chars().take(SHOWN).collect();
    let end: Vec<char> = text.chars().rev().take(SHOWN).collect();
    format!("{start}…{}", end.into_iter().rev().collect::<String>())
}

/// Bounds without the zeros at their ends: `10-20`.
fn short(bounds: &Bounds) -> String {
    let trim = |bound: &str| match bound.trim_end_matches('0') {
        "" => "00".to_owned(),
        odd if odd.len() % 2 == 1 => format!("{odd}0"),
        even => even.to_owned(),
    };
    format!("{}-{}", trim(&bounds.min), trim(&bounds.max))
}

/// `1h 2m 3s`.
fn duration(seconds: i64) -> String {
    let round = SpanRound::new().largest(Unit::Hour);
    let span = jiff::SignedDuration::from_secs(seconds);
    jiff::Span::try_from(span)
        .and_then(|span| span.round(round))
        .map_or_else(|_| format!("{seconds}s"), |span| format!("{span:#}"))
}

#[cfg(test)]
mod tests {
    use projectionist::change::Operation;
    use projectionist::needs::Mode;

    use super::*;
    use crate::letters::{LetterStatus, NewLetter};
    use crate::position::ProjectionId;

    /// The letters of a range that was split are in the sum, once.
    #[test]
    fn letters_of_a_parent_count_with_its_first_child() {
        let projection = ProjectionId {
            tenant: String::new(),
            collection: "c".to_owned(),
            name: "p".to_owned(),
            generation: 1,
        };
        let bounds = |min: &str, max: &str| Bounds {
            min: min.to_owned(),
            max: max.to_owned(),
        };
        let row = |bounds: Bounds| Checkpoint {
            lease: projection.lease(&bounds),
            projection: projection.clone(),
            rid: String::new(),
            bounds,
            mode: Mode::LatestVersion,
            epoch: 0,
            version: 0,
            start: String::new(),
            position: None,
            changed_at: Timestamp::UNIX_EPOCH,
        };
        let letter = |bounds: Bounds| Letter {
            id: 1,
            status: LetterStatus::Dead,
            last_failed_at: Timestamp::UNIX_EPOCH,
            content: NewLetter {
                projection: projection.clone(),
                lease: projection.lease(&bounds),
                bounds,
                key: String::new(),
                partition_key: String::new(),
                document_id: String::new(),
                sequence: None,
                operation: Operation::Upsert,
                etag: None,
                written_at: Timestamp::UNIX_EPOCH,
                hook: String::new(),
                errors: Vec::new(),
                attempts: 1,
                failed_at: Timestamp::UNIX_EPOCH,
                build: String::new(),
                body: None,
            },
        };
        let rows = [bounds("", "40"), bounds("40", "80"), bounds("80", "FF")].map(row);
        let letters = [bounds("", "80"), bounds("40", "80"), bounds("", "40")].map(letter);
        let counts = count(&letters, &rows);
        let of = |index: usize| counts.get(&rows[index].lease).copied();
        assert_eq!([of(0), of(1), of(2)], [Some(2), Some(1), None]);
    }

    #[test]
    fn bounds_are_short() {
        let bounds = |min: &str, max: &str| Bounds {
            min: min.to_owned(),
            max: max.to_owned(),
        };
        assert_eq!(short(&bounds("", "10000000")), "00-10");
        assert_eq!(short(&bounds("15550000", "FF")), "1555-FF");
    }

    #[test]
    fn lag_is_shown_in_people_s_units() {
        assert_eq!(duration(0), "0s");
        assert_eq!(duration(75), "1m 15s");
        assert_eq!(duration(90_061), "25h 1m 1s");
    }
}
