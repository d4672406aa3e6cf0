//! Queries, and lists of all documents, in pages.
//!
//! A page goes on where the last one ended: after a document's number, or, of what is ordered or counted, after so many
//! results. Numbers are the collection's, so that a place outlives splits and merges. Documents that come or go between
//! two pages may then be seen or not, as on the service.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Served;
use super::answer::{Answer, Refusal, feed_refusal};
use super::asked::Asked;
use super::documents::charge;
use super::feed::Scope;
use crate::collection::Collection;
use crate::json;
use crate::query::{Parameter, Query, QueryError};

/// How many results a page has where the client does not say.
const DEFAULT_ITEMS: usize = 1000;
/// A page's size in bytes that ends it before its number of results does.
const PAGE_LIMIT: usize = 4 * 1024 * 1024;
/// How many documents are looked at in one go.
const CHUNK: usize = 1000;

/// A query, as a client sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    query: String,
    #[serde(default)]
    parameters: Vec<Named>,
    /// Where a client that orders over several ranges goes on.
    resume_filter: Option<Value>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    /// Clients leave out what is undefined: `null` is another value.
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn parse(asked: &Asked) -> Result<Query, Refusal> {
    let Body {
        query,
        parameters,
        resume_filter,
    } = asked.json()?;
    let parameters = parameters
        .into_iter()
        .filter_map(|Named { name, value }| {
            Some(Parameter {
                name,
                value: value?,
            })
        })
        .collect();
    let refused = |error: QueryError| Refusal::bad(error.to_string());
    let mut query = Query::parse(&query, parameters).map_err(refused)?;
    if let Some(place) = resume_filter {
        query.resume(&place).map_err(refused)?;
    }
    Ok(query)
}

/// How a client is to run a query over several ranges.
pub(super) fn plan(asked: &Asked) -> Result<Answer, Refusal> {
    Ok(Answer::json(200, &parse(asked)?.plan()))
}

/// Where a page goes on.
#[derive(Debug, Serialize, Deserialize)]
enum Place {
    /// After a document's number.
    Documents(u64),
    /// After so many results.
    Results(usize),
}

impl Place {
    fn of(asked: &Asked) -> Result<Option<Self>, Refusal> {
        let Some(text) = asked
            .header("x-ms-continuation")
            .filter(|text| !text.is_empty())
        else {
            return Ok(None);
        };
        URL_SAFE_NO_PAD
            .decode(text)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .map(Some)
            .ok_or_else(|| {
                Refusal::bad("x-ms-continuation is no continuation of this emulator's queries")
            })
    }

    /// The number of the last document that was seen.
    fn after(asked: &Asked) -> Result<u64, Refusal> {
        Ok(match Self::of(asked)? {
            Some(Self::Documents(number)) => number,
            _ => 0,
        })
    }

    fn text(&self) -> String {
        let json = serde_json::to_vec(self).expect("a place has a JSON text");
        URL_SAFE_NO_PAD.encode(json)
    }
}

/// A page in the making.
#[derive(Default)]
struct Page {
    results: Vec<u8>,
    count: usize,
    next: Option<Place>,
}

impl Page {
    fn push(&mut self, result: &[u8]) {
        if self.count > 0 {
            self.results.push(b',');
        }
        self.results.extend_from_slice(result);
        self.count += 1;
    }

    fn is_full(&self, most: usize) -> bool {
        self.count >= most || self.results.len() >= PAGE_LIMIT
    }
}

impl Served {
    pub(super) fn query(collection: &Collection, asked: &Asked) -> Result<Answer, Refusal> {
        let query = parse(asked)?;
        let scopes = Self::scopes(collection, asked)?;
        let is_one = asked
            .header("x-ms-documentdb-partitionkeyrangeid")
            .is_some()
            || asked.header("x-ms-documentdb-partitionkey").is_some();
        if !is_one && scopes.len() > 1 {
            if !asked.flag("x-ms-documentdb-query-enablecrosspartition") {
                return Err(Refusal::bad(
                    "Cross partition query is required but disabled: set x-ms-documentdb-query-enablecrosspartition to true, or give a partition key",
                ));
            }
            if !query.is_plain() {
                return Err(Refusal::bad(
                    "The provided cross partition query can not be directly served by the gateway: ask for its plan, and run it over each range",
                )
                .sub(1004)
                .plan(query.plan().to_string()));
            }
        }
        let most = most(asked)?;
        let page = if query.is_plain() {
            let project = |document: &Bytes| -> Result<Vec<Vec<u8>>, Refusal> {
                let value = value(document)?;
                let results = query.run(std::iter::once(&value));
                Ok(results
                    .iter()
                    .map(|result| result.to_string().into_bytes())
                    .collect())
            };
            walk(collection, &scopes, Place::after(asked)?, most, project)?
        } else {
            let skip = match Place::of(asked)? {
                Some(Place::Results(skip)) => skip,
                _ => 0,
            };
            let mut documents = Vec::new();
            for scope in &scopes {
                all(collection, scope, &mut documents)?;
            }
            let mut page = Page::default();
            for (index, result) in query.run(documents.iter()).iter().enumerate().skip(skip) {
                if page.is_full(most) {
                    page.next = Some(Place::Results(index));
                    break;
                }
                page.push(result.to_string().as_bytes());
            }
            page
        };
        Ok(answer(collection, &scopes, page))
    }

    /// All documents, as they are.
    pub(super) fn list_documents(
        collection: &Collection,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        let scopes = Self::scopes(collection, asked)?;
        let whole = |document: &Bytes| Ok(vec![document.to_vec()]);
        let page = walk(
            collection,
            &scopes,
            Place::after(asked)?,
            most(asked)?,
            whole,
        )?;
        Ok(answer(collection, &scopes, page))
    }
}

fn most(asked: &Asked) -> Result<usize, Refusal> {
    Ok(asked
        .max_items()?
        .map_or(DEFAULT_ITEMS, |count| count as usize))
}

fn value(document: &Bytes) -> Result<Value, Refusal> {
    json::value(document).map_err(|error| {
        Refusal::new(
            500,
            "InternalServerError",
            format!("a stored document does not decode: {error}"),
        )
    })
}

/// Documents of the scopes by their numbers, as what `project` makes of them, from a place on until the page is full.
fn walk(
    collection: &Collection,
    scopes: &[Scope],
    mut after: u64,
    most: usize,
    project: impl Fn(&Bytes) -> Result<Vec<Vec<u8>>, Refusal>,
) -> Result<Page, Refusal> {
    let mut page = Page::default();
    loop {
        let mut documents = Vec::new();
        for scope in scopes {
            let found = collection
                .documents(&scope.min, &scope.max, after, CHUNK)
                .map_err(|error| feed_refusal(&error, &scope.range.id))?;
            documents.extend(found);
        }
        documents.sort_unstable_by_key(|(number, _)| *number);
        let is_last = documents.len() < CHUNK;
        // Past these a scope may have more that lie between.
        documents.truncate(CHUNK);
        for (number, document) in documents {
            if page.is_full(most) {
                page.next = Some(Place::Documents(after));
                return Ok(page);
            }
            for result in project(&document)? {
                page.push(&result);
            }
            after = number;
        }
        if is_last {
            return Ok(page);
        }
    }
}

fn all(collection: &Collection, scope: &Scope, into: &mut Vec<Value>) -> Result<(), Refusal> {
    let mut after = 0;
    loop {
        let documents = collection
            .documents(&scope.min, &scope.max, after, CHUNK)
            .map_err(|error| feed_refusal(&error, &scope.range.id))?;
        let Some((last, _)) = documents.last() else {
            return Ok(());
        };
        after = *last;
        for (_, document) in &documents {
            into.push(value(document)?);
        }
    }
}

fn answer(collection: &Collection, scopes: &[Scope], page: Page) -> Answer {
    let mut body = format!("{{\"_rid\":\"{}\",\"Documents\":[", collection.rid()).into_bytes();
    body.extend_from_slice(&page.results);
    body.extend_from_slice(format!("],\"_count\":{}}}", page.count).as_bytes());
    let charge = charge(body.len(), 2.0);
    let mut answer = Answer::text(200, body)
        .charge(charge)
        .header("x-ms-item-count", page.count.to_string());
    if let Some(next) = page.next {
        answer = answer.header("x-ms-continuation", next.text());
    }
    if let [scope] = scopes
        && let Ok(end) = collection.end(&scope.range.min, &scope.range.max)
    {
        answer = answer.at(&scope.range, end);
    }
    answer
}
