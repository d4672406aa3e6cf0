//! From what was written to what is meant. Each error says what was expected.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SpanRelativeTo, Timestamp};
use projectionist::projection::Start;
use serde_json::Value;

use super::{Auth, FeedKind, LogFormat, Secret, StoreKind};
use crate::engine::SchemaPolicy;

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

/// Up to three paths: the service's limit.
pub(super) fn partition_key(value: &Value) -> Result<Vec<String>, String> {
    let is_path = |path: &String| {
        path.starts_with('/') && path.split('/').skip(1).all(|part| !part.is_empty())
    };
    texts(value)
        .ok()
        .filter(|paths| (1..=3).contains(&paths.len()) && paths.iter().all(is_path))
        .ok_or_else(|| {
            "expected a path such as `/customerId`, or up to three of a hierarchical key".to_owned()
        })
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
        Some("cosmos") if cfg!(feature = "cosmos") => Ok(FeedKind::Cosmos),
        Some("cosmos") => Err("this program was built without the feature `cosmos`".to_owned()),
        _ => Err("expected `emulator` or `cosmos`".to_owned()),
    }
}

/// An address. `http` carries keys and documents for all to read, so it is taken for this machine only.
pub(super) fn endpoint(value: &Value) -> Result<String, String> {
    const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
    let expected = "expected an address such as `https://shop.documents.azure.com`";
    let text = text(value).map_err(|_| expected.to_owned())?;
    let text = text.trim();
    let host = |rest: &str| {
        // No user, no path, no query: what may hold a secret is nothing that an account's address has.
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let port = authority
            .rfind(':')
            .filter(|at| !authority[*at..].contains(']'));
        let (host, port) = match port {
            Some(at) => (&authority[..at], authority[at + 1..].parse::<u16>().is_ok()),
            None => (authority, true),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
        (port && !host.is_empty() && host.chars().all(is_name)).then(|| host.to_lowercase())
    };
    if let Some(rest) = text.strip_prefix("https://") {
        return host(rest)
            .map(|_| text.to_owned())
            .ok_or_else(|| expected.to_owned());
    }
    match text.strip_prefix("http://").and_then(host) {
        Some(host) if LOCAL.contains(&&host[..]) => Ok(text.to_owned()),
        Some(_) => {
            Err("expected `https://…`: plain `http` is taken for this machine only".to_owned())
        }
        None => Err(expected.to_owned()),
    }
}

pub(super) fn auth(value: &Value) -> Result<Auth, String> {
    let ways = [
        Auth::Identity,
        Auth::ManagedIdentity,
        Auth::WorkloadIdentity,
        Auth::DeveloperTools,
        Auth::Key,
    ];
    let found = ways
        .into_iter()
        .find(|auth| value.as_str() == Some(auth.as_str()));
    found.ok_or_else(|| {
        "expected `identity`, `managed-identity`, `workload-identity`, `developer` or `key`"
            .to_owned()
    })
}

/// The URL of a database.
pub(super) fn database(value: &Value) -> Result<Secret, String> {
    text(value)
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"))
        .map(Secret::new)
        .ok_or_else(|| "expected `postgres://user:password@host/database`".to_owned())
}

/// The account's key, which is base64.
pub(super) fn account_key(value: &Value) -> Result<Secret, String> {
    let is_base64 = |text: &str| {
        let body = text.trim_end_matches('=');
        text.len().is_multiple_of(4)
            && text.len() - body.len() <= 2
            && body
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+/".contains(c))
    };
    text(value)
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| is_base64(text))
        .map(Secret::new)
        .ok_or_else(|| "expected a key as the portal shows it (base64)".to_owned())
}

/// Endpoint and key.
pub(super) fn connection_string(value: &Value) -> Result<(String, Secret), String> {
    let expected = || "expected `AccountEndpoint=https://…;AccountKey=…;`".to_owned();
    let text = text(value).map_err(|_| expected())?;
    let part = |name: &str| {
        text.split(';').find_map(|part| {
            let (found, value) = part.split_once('=')?;
            found
                .trim()
                .eq_ignore_ascii_case(name)
                .then(|| Value::from(value.trim()))
        })
    };
    let endpoint = endpoint(&part("AccountEndpoint").ok_or_else(expected)?)?;
    let key = account_key(&part("AccountKey").ok_or_else(expected)?)?;
    Ok((endpoint, key))
}

/// The id of an identity or a tenant: shorter than any key.
pub(super) fn identifier(value: &Value) -> Result<String, String> {
    text(value)
        .ok()
        .filter(|text| {
            text.len() <= 64
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        })
        .ok_or_else(|| "expected an id such as `1b4f7c0e-3d2a-4f5b-9c8d-7e6f5a4b3c2d`".to_owned())
}

/// The names of regions.
pub(super) fn regions(value: &Value) -> Result<Vec<String>, String> {
    let is_region = |text: &String| {
        text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ')
    };
    texts(value)
        .ok()
        .filter(|regions| regions.iter().all(is_region))
        .ok_or_else(|| "expected regions such as `[\"West Europe\", \"North Europe\"]`".to_owned())
}

/// A list of texts, or one text with commas.
pub(super) fn texts(value: &Value) -> Result<Vec<String>, String> {
    let texts = match value {
        Value::Array(items) => items.iter().map(text).collect::<Result<Vec<_>, _>>(),
        value => {
            text(value).map(|text| text.split(',').map(|part| part.trim().to_owned()).collect())
        }
    };
    texts
        .ok()
        .filter(|texts| texts.iter().all(|text| !text.is_empty()))
        .ok_or_else(|| "expected a list of names".to_owned())
}

pub(super) fn store(value: &Value) -> Result<StoreKind, String> {
    match value.as_str() {
        Some("sqlite") => Ok(StoreKind::Sqlite),
        Some("postgres") if cfg!(feature = "postgres") => Ok(StoreKind::Postgres),
        Some("postgres") => Err("this program was built without the feature `postgres`".to_owned()),
        Some("memory") => Ok(StoreKind::Memory),
        _ => Err("expected `sqlite`, `postgres` or `memory`".to_owned()),
    }
}

pub(super) fn schema(value: &Value) -> Result<SchemaPolicy, String> {
    match value.as_str() {
        Some("apply") => Ok(SchemaPolicy::Apply),
        Some("check") => Ok(SchemaPolicy::Check),
        Some("off") => Ok(SchemaPolicy::Off),
        _ => Err("expected `apply`, `check` or `off`".to_owned()),
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
