//! From what was written to what is meant. Each error says what was expected.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SpanRelativeTo, Timestamp};
use projectionist::projection::Start;
use serde_json::Value;

use super::{FeedKind, LogFormat, StoreKind};

pub(super) fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
        _ => Err("expected a text that is not empty".to_owned()),
    }
}

pub(super) fn path(value: &Value) -> Result<PathBuf, String> {
    text(value).map(PathBuf::from)
}

pub(super) fn flag(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        _ => Err("expected `true` or `false`".to_owned()),
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_i64(),
    }
}

pub(super) fn count(value: &Value) -> Result<u32, String> {
    whole(value)
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number > 0)
        .ok_or_else(|| "expected a whole number from 1 on".to_owned())
}

pub(super) fn duration(value: &Value) -> Result<Duration, String> {
    value
        .as_str()
        .and_then(span)
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected a duration such as `500ms`, `5s`, `1m 30s`, `7d`".to_owned())
}

/// A day has 24 hours here.
fn span(text: &str) -> Option<Duration> {
    let span: jiff::Span = text.parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(duration).ok()
}

/// Seconds, or -1.
pub(super) fn ttl(value: &Value) -> Result<i32, String> {
    let seconds = match (whole(value), duration(value)) {
        (Some(-1), _) => Some(-1),
        (_, Ok(duration)) if duration.as_secs() > 0 => i32::try_from(duration.as_secs()).ok(),
        _ => None,
    };
    seconds.ok_or_else(|| "expected a duration of whole seconds such as `30d`, or `-1`".to_owned())
}

pub(super) fn partition_key(value: &Value) -> Result<String, String> {
    text(value)
        .ok()
        .filter(|path| {
            path.starts_with('/') && path.split('/').skip(1).all(|part| !part.is_empty())
        })
        .ok_or_else(|| "expected a path such as `/customerId`".to_owned())
}

pub(super) fn start(value: &Value) -> Result<Start, String> {
    match value.as_str() {
        Some("now") => Ok(Start::Now),
        Some("beginning") => Ok(Start::Beginning),
        other => other
            .and_then(|text| text.parse::<Timestamp>().ok())
            .map(|time| Start::At(time.as_second()))
            .ok_or_else(|| {
                "expected `now`, `beginning`, or a time such as `2026-12-01T08:00:00Z`".to_owned()
            }),
    }
}

pub(super) fn feed(value: &Value) -> Result<FeedKind, String> {
    match value.as_str() {
        Some("emulator") => Ok(FeedKind::Emulator),
        _ => Err("expected `emulator`".to_owned()),
    }
}

pub(super) fn store(value: &Value) -> Result<StoreKind, String> {
    match value.as_str() {
        Some("sqlite") => Ok(StoreKind::Sqlite),
        Some("memory") => Ok(StoreKind::Memory),
        _ => Err("expected `sqlite` or `memory`".to_owned()),
    }
}

pub(super) fn log_format(value: &Value) -> Result<LogFormat, String> {
    match value.as_str() {
        Some("auto") => Ok(LogFormat::Auto),
        Some("pretty") => Ok(LogFormat::Pretty),
        Some("json") => Ok(LogFormat::Json),
        _ => Err("expected `auto`, `pretty` or `json`".to_owned()),
    }
}

pub(super) fn log(value: &Value) -> Result<String, String> {
    let filter = text(value)?;
    match tracing_subscriber::EnvFilter::try_new(&filter) {
        Ok(_) => Ok(filter),
        Err(error) => Err(format!(
            "expected a filter such as `info` or `warn,projectionist_runtime=debug` ({error})"
        )),
    }
}
