//! A request, read: its path, its headers, its body.

use axum::http::HeaderMap;
use axum::http::request::Parts;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;

use super::answer::Refusal;
use super::binary;
use crate::collection::Collection;
use crate::key::PartitionKey;

/// A request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    /// As it came, without the slash at its end.
    pub(super) path: String,
    /// Its parts, decoded.
    pub(super) segments: Vec<String>,
    pub(super) body: Bytes,
    /// The name and port by which the client reaches the gateway.
    pub(super) host: Option<String>,
    headers: HeaderMap,
}

impl Asked {
    pub(super) fn new(parts: &Parts, body: Bytes) -> Result<Self, Refusal> {
        let path = parts.uri.path().trim_matches('/').to_owned();
        let segments = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(|segment| {
                percent_decode_str(segment)
                    .decode_utf8()
                    .map(std::borrow::Cow::into_owned)
                    .map_err(|_| Refusal::bad(format!("the path /{path} is not UTF-8")))
            })
            .collect::<Result<_, _>>()?;
        // A header that cannot be read must not count as absent: a precondition among them would be passed over.
        for (name, value) in &parts.headers {
            if value.to_str().is_err() {
                return Err(Refusal::bad(format!(
                    "the header {name} holds more than printable ASCII"
                )));
            }
        }
        Ok(Self {
            method: parts.method.as_str().to_owned(),
            path,
            segments,
            body,
            host: match parts.uri.authority() {
                Some(authority) => Some(authority.to_string()),
                None => parts
                    .headers
                    .get("host")
                    .and_then(|host| host.to_str().ok())
                    .map(str::to_owned),
            },
            headers: parts.headers.clone(),
        })
    }

    /// Whether the client calls the gateway by an address of loopback, and not by a name that may be anybody's.
    pub(super) fn is_to_loopback(&self) -> bool {
        let host = self.host.as_deref().unwrap_or_default();
        let name = host
            .rsplit_once(':')
            .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
            .map_or(host, |(name, _)| name);
        ["localhost", "127.0.0.1", "[::1]"].contains(&name.to_ascii_lowercase().as_str())
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether a header says `true`.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.header(name)
            .is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether the answer may leave out the document.
    pub(super) fn is_minimal(&self) -> bool {
        self.header("prefer")
            .is_some_and(|value| value.eq_ignore_ascii_case("return=minimal"))
    }

    pub(super) fn is_query(&self) -> bool {
        self.flag("x-ms-documentdb-isquery")
            || self
                .header("content-type")
                .is_some_and(|kind| kind.contains("query+json"))
    }

    /// The body as JSON text.
    pub(super) fn text(&self, accepts_binary: bool) -> Result<Bytes, Refusal> {
        if !binary::is_binary(&self.body) {
            return Ok(self.body.clone());
        }
        if !accepts_binary {
            return Err(Refusal::bad("binary JSON is refused here").sub(1001));
        }
        binary::to_text(&self.body)
            .map(Bytes::from)
            .map_err(|error| Refusal::bad(format!("the body is no binary JSON: {error}")))
    }

    /// The body, decoded.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let text = self.text(true)?;
        serde_json::from_slice(&text)
            .map_err(|error| Refusal::bad(format!("the body does not decode: {error}")))
    }

    /// The partition key that the request is about.
    pub(super) fn partition_key(&self) -> Result<Option<PartitionKey>, Refusal> {
        let Some(text) = self.header("x-ms-documentdb-partitionkey") else {
            return Ok(None);
        };
        if text.trim() == "[]" {
            // What some clients send for "none".
            return Ok(Some(PartitionKey::undefined()));
        }
        PartitionKey::from_json(text)
            .map(Some)
            .map_err(|error| Refusal::bad(format!("x-ms-documentdb-partitionkey: {error}")))
    }

    /// The partition key of a request about one document.
    pub(super) fn document_key(&self) -> Result<PartitionKey, Refusal> {
        self.partition_key()?.ok_or_else(|| {
            Refusal::bad("PartitionKey value must be supplied for this operation: the header x-ms-documentdb-partitionkey is missing")
        })
    }

    /// How many items an answer may have; none: as many as fit.
    pub(super) fn max_items(&self) -> Result<Option<u32>, Refusal> {
        let Some(text) = self.header("x-ms-max-item-count") else {
            return Ok(None);
        };
        match text.trim().parse::<i64>() {
            Ok(-1 | 0) => Ok(None),
            Ok(count) if count > 0 => Ok(Some(u32::try_from(count).unwrap_or(u32::MAX))),
            _ => Err(Refusal::bad(format!(
                "x-ms-max-item-count: {text} is no number of items"
            ))),
        }
    }

    /// Checks that the client means this container and not an earlier one of its name.
    pub(super) fn check_collection(&self, collection: &Collection) -> Result<(), Refusal> {
        match self.header("x-ms-cosmos-intended-collection-rid") {
            Some(rid) if rid != collection.rid() => Err(Refusal::bad(format!(
                "the container was recreated: its resource id is {}, not {rid}",
                collection.rid()
            ))
            .sub(1024)),
            _ => Ok(()),
        }
    }
}
