//! The change feed, in both modes, in the forms that clients ask for.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::{Value, json};

use super::answer::{Answer, Refusal, feed_refusal};
use super::asked::Asked;
use super::{Served, Switches};
use crate::collection::Collection;
use crate::config::Range;
use crate::feed::{FeedItem, FeedRequest, From, Mode, Operation};
use crate::hash::Epk;

/// How many changes a page has where the client does not say.
const DEFAULT_ITEMS: u32 = 1000;
/// The format in which changes come in an envelope.
const ENVELOPES: &str = "2021-09-15";

/// The part of a physical range that a request is about.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) range: Range,
    pub(super) min: String,
    pub(super) max: String,
}

impl Served {
    /// The parts of physical ranges that a request is about: a range by its id, a partition key or a beginning of one,
    /// a part of the key space, or everything.
    pub(super) fn scopes(collection: &Collection, asked: &Asked) -> Result<Vec<Scope>, Refusal> {
        let ranges = collection.ranges();
        let bound = |name: &str| -> Result<Option<Epk>, Refusal> {
            match asked.header(name) {
                None => Ok(None),
                Some(text) => Epk::bound(text)
                    .map(Some)
                    .ok_or_else(|| Refusal::bad(format!("{name}: {text} is no bound"))),
            }
        };
        let (mut low, mut high) = (bound("x-ms-start-epk")?, bound("x-ms-end-epk")?);
        let mut text = (
            asked.header("x-ms-start-epk").unwrap_or("").to_owned(),
            asked.header("x-ms-end-epk").unwrap_or("FF").to_owned(),
        );
        if let Some(key) = asked.partition_key()? {
            let paths = collection.config().partition_key.len();
            if key.levels() > paths {
                return Err(Refusal::bad(format!(
                    "the partition key {key} has more values than the container has paths, {paths}"
                )));
            }
            text = key.bounds();
            low = Epk::bound(&text.0);
            high = Epk::bound(&text.1);
        }
        let id = asked
            .header("x-ms-documentdb-partitionkeyrangeid")
            .map(|id| id.rsplit(',').next().unwrap_or(id).trim());
        if let Some(id) = id
            && !ranges.iter().any(|range| range.id == id)
        {
            return Err(Refusal::gone(id));
        }
        let scopes = ranges
            .into_iter()
            .filter(|range| id.is_none_or(|id| range.id == id))
            .filter_map(|range| {
                let (begin, end) = range.bounds();
                let (from, min) = match low {
                    Some(low) if low > begin => (low, text.0.clone()),
                    _ => (begin, range.min.clone()),
                };
                let (to, max) = match high {
                    Some(high) if high < end => (high, text.1.clone()),
                    _ => (end, range.max.clone()),
                };
                (from < to).then_some(Scope { range, min, max })
            })
            .collect();
        Ok(scopes)
    }

    pub(super) fn read_feed(
        &self,
        collection: &Collection,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        let switches = self.switches();
        let is_full = match asked.header("a-im").map(str::to_ascii_lowercase).as_deref() {
            Some("incremental feed") => false,
            Some("full-fidelity feed") => true,
            other => {
                return Err(Refusal::bad(format!(
                    "a-im: {other:?} is neither \"Incremental feed\" nor \"Full-Fidelity Feed\""
                )));
            }
        };
        if is_full && switches.vnext {
            return Err(Refusal::bad(
                "Change Feed 'All Versions and Deletes' mode must be enabled: this emulator runs with the quirks of one that has no such mode",
            ));
        }
        let mut scopes = Self::scopes(collection, asked)?;
        let (Some(scope), None) = (scopes.pop(), scopes.pop()) else {
            return Err(Refusal::bad(
                "a change feed request must be about one physical partition: name it by x-ms-documentdb-partitionkeyrangeid, a partition key, or a part of its keys",
            ));
        };
        let mode = if is_full {
            Mode::AllVersions
        } else {
            Mode::LatestVersion
        };
        let from = from(asked, switches)?;
        let page = collection
            .read_feed(&FeedRequest {
                min: scope.min,
                max: scope.max,
                mode,
                from,
                max_items: asked.max_items()?.unwrap_or(DEFAULT_ITEMS),
            })
            .map_err(|error| feed_refusal(&error, &scope.range.id))?;

        let end = collection
            .end(&scope.range.min, &scope.range.max)
            .unwrap_or(page.continuation);
        let etag = format!("\"{}\"", page.continuation);
        let count = page.items.len();
        if count == 0 {
            return Ok(Answer::empty(304)
                .header("etag", etag)
                .at(&scope.range, end));
        }
        let in_envelopes = !switches.vnext
            && (is_full
                || asked.header("x-ms-cosmos-changefeed-wire-format-version") == Some(ENVELOPES));
        let paths = collection.config().partition_key;
        let mut body = format!("{{\"_rid\":\"{}\",\"Documents\":[", collection.rid());
        for (index, item) in page.items.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            if in_envelopes {
                envelope(&mut body, item, is_full, &paths, switches)?;
            } else {
                flat(&mut body, item)?;
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(body, "],\"_count\":{count}}}");
        Ok(Answer::text(200, body)
            .header("etag", etag)
            .header("x-ms-item-count", count.to_string())
            .at(&scope.range, end))
    }
}

/// Where the feed is to be read from.
fn from(asked: &Asked, switches: Switches) -> Result<From, Refusal> {
    let since = match asked.header("if-modified-since") {
        None => None,
        Some(text) => Some(time(text)?),
    };
    let after = match asked.header("if-none-match") {
        None => None,
        // The quirk: it replays instead.
        Some("*") if switches.vnext => None,
        Some("*") => return Ok(From::Now),
        Some(etag) => Some(etag.trim_matches('"').parse::<u64>().map_err(|_| {
            Refusal::bad(format!(
                "if-none-match: {etag} is no continuation of this feed"
            ))
        })?),
    };
    Ok(match (after, since) {
        (None, None) => From::Beginning,
        (None, Some(time)) => From::Time(time),
        (Some(after), None) => From::After(after),
        // The time goes with every page of a read that began at it.
        (Some(after), Some(time)) => From::AfterSince(after, time),
    })
}

/// The time before the one that the client means: its times include their second, ours do not.
fn time(text: &str) -> Result<Timestamp, Refusal> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    let time = PARSER
        .parse_timestamp(text)
        .map_err(|error| Refusal::bad(format!("if-modified-since: {text} is no time: {error}")))?;
    Ok(time
        .saturating_sub(jiff::SignedDuration::from_secs(1))
        .unwrap_or(Timestamp::MIN))
}

fn text(bytes: &bytes::Bytes) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes)
        .map_err(|_| Refusal::new(500, "InternalServerError", "a stored document is not UTF-8"))
}

/// The document itself, with its sequence number.
fn flat(body: &mut String, item: &FeedItem) -> Result<(), Refusal> {
    let Some(current) = &item.current else {
        return Ok(());
    };
    let current = text(current)?;
    body.push_str(&current[..current.len() - 1]);
    let _ = write!(body, ",\"_lsn\":{}}}", item.lsn);
    Ok(())
}

fn envelope(
    body: &mut String,
    item: &FeedItem,
    is_full: bool,
    paths: &[String],
    switches: Switches,
) -> Result<(), Refusal> {
    body.push('{');
    match &item.current {
        Some(current) => {
            body.push_str("\"current\":");
            body.push_str(text(current)?);
            body.push(',');
        }
        None if switches.empty_current => body.push_str("\"current\":{},"),
        None => {}
    }
    if let Some(previous) = &item.previous {
        body.push_str("\"previous\":");
        body.push_str(text(previous)?);
        body.push(',');
    }
    let mut metadata = json!({"lsn": item.lsn, "crts": item.timestamp.as_second()});
    if is_full {
        metadata["operationType"] = json!(match item.operation {
            Operation::Create => "create",
            Operation::Replace | Operation::Upsert => "replace",
            Operation::Delete => "delete",
        });
        if let Some(before) = item.previous_lsn {
            metadata["previousImageLSN"] = json!(before);
        }
        if item.operation == Operation::Delete {
            metadata["id"] = json!(item.id.to_string());
            metadata["partitionKey"] = key(item, paths, switches);
            metadata["timeToLiveExpired"] = json!(item.expired);
        }
    }
    let _ = write!(body, "\"metadata\":{metadata}}}");
    Ok(())
}

/// A delete's partition key: an object by paths, without those that have no value, or an array.
fn key(item: &FeedItem, paths: &[String], switches: Switches) -> Value {
    let values: Vec<Value> = serde_json::from_str(&item.partition_key).unwrap_or_default();
    if switches.array_keys {
        return Value::Array(values);
    }
    let fields = paths
        .iter()
        .zip(values)
        .filter(|(_, value)| !value.is_object())
        .map(|(path, value)| (path.trim_start_matches('/').to_owned(), value));
    Value::Object(fields.collect())
}
