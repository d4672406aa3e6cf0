//! Groups of operations: transactional batches, all or nothing under one sequence number, and bulk requests, each
//! operation by itself.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Served;
use super::answer::{Answer, Refusal};
use super::asked::Asked;
use super::documents::{Patch, charge};
use crate::collection::Collection;
use crate::feed::Operation;
use crate::json;
use crate::key::PartitionKey;
use crate::write::{DocumentError, Done, Numbering, Step, Write};

/// How many operations a batch may have, as on the service.
const LIMIT: usize = 100;
/// What operations are answered that were not made because of another.
const FAILED_DEPENDENCY: u16 = 424;

/// One operation, as a client sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
    operation_type: String,
    id: Option<String>,
    resource_body: Option<Box<RawValue>>,
    if_match: Option<String>,
    if_none_match: Option<String>,
    /// Of a bulk request: the JSON text of the key.
    partition_key: Option<Value>,
}

impl Asking {
    fn step(self, key: Option<&PartitionKey>) -> Result<Step, Refusal> {
        let key = match (&self.partition_key, key) {
            (_, Some(key)) => Some(key.clone()),
            (Some(Value::String(text)), None) => Some(read(text)?),
            (Some(value), None) => Some(read(&value.to_string())?),
            (None, None) => None,
        };
        let kind = self.operation_type.as_str();
        let body = || {
            self.resource_body
                .as_ref()
                .map(|body| body.get().to_owned())
                .ok_or_else(|| Refusal::bad(format!("an operation {kind} has no \"resourceBody\"")))
        };
        let named = || {
            let id = self
                .id
                .clone()
                .ok_or_else(|| Refusal::bad(format!("an operation {kind} has no \"id\"")))?;
            let key = key
                .clone()
                .ok_or_else(|| Refusal::bad(format!("operation {kind} of \"{id}\" has no key")))?;
            Ok::<_, Refusal>((id, key))
        };
        let write = match kind {
            "Create" => Write::Create(body()?.into()),
            "Upsert" => Write::Upsert(body()?.into()),
            "Replace" => Write::Replace(body()?.into()),
            "Read" => {
                let (id, partition_key) = named()?;
                Write::Read { id, partition_key }
            }
            "Delete" => {
                let (id, partition_key) = named()?;
                Write::Delete { id, partition_key }
            }
            "Patch" => {
                let (id, key) = named()?;
                let patch: Patch = serde_json::from_str(&body()?)
                    .map_err(|error| Refusal::bad(format!("the patch of \"{id}\": {error}")))?;
                patch.write(&id, key)?
            }
            _ => {
                return Err(Refusal::bad(format!(
                    "the operation \"{kind}\" is not one of Create, Upsert, Replace, Read, Delete and Patch"
                )));
            }
        };
        Ok(Step {
            write,
            if_match: self.if_match,
            if_none_match: self.if_none_match,
            partition_key: key,
        })
    }
}

fn read(text: &str) -> Result<PartitionKey, Refusal> {
    PartitionKey::from_json(text)
        .map_err(|error| Refusal::bad(format!("an operation's \"partitionKey\": {error}")))
}

impl Served {
    pub(super) fn batch(collection: &Collection, asked: &Asked) -> Result<Answer, Refusal> {
        let operations: Vec<Asking> = asked.json()?;
        if operations.is_empty() || operations.len() > LIMIT {
            return Err(Refusal::bad(format!(
                "a batch has 1 to {LIMIT} operations, not {}",
                operations.len()
            )));
        }
        if asked.flag("x-ms-cosmos-batch-atomic") {
            Self::transaction(collection, asked, operations)
        } else {
            bulk(collection, asked, operations)
        }
    }

    fn transaction(
        collection: &Collection,
        asked: &Asked,
        operations: Vec<Asking>,
    ) -> Result<Answer, Refusal> {
        let key = asked.document_key()?;
        let count = operations.len();
        let steps = operations
            .into_iter()
            .map(|operation| operation.step(Some(&key)))
            .collect::<Result<Vec<_>, _>>()?;
        let (status, results) = match collection.execute(steps, Numbering::Shared) {
            Ok(done) => (200, done.iter().map(made).collect::<Vec<_>>()),
            Err(error) => {
                let failed = error.index;
                let result = |index| {
                    if index == failed {
                        refused(&error.source)
                    } else {
                        json!({"statusCode": FAILED_DEPENDENCY, "requestCharge": 0})
                    }
                };
                (207, (0..count).map(result).collect())
            }
        };
        let (range, end) = collection.locate(&key);
        let body = Value::Array(results).to_string();
        let charge = charge(body.len(), 5.0);
        Ok(Answer::text(status, body).charge(charge).at(&range, end))
    }
}

fn bulk(
    collection: &Collection,
    asked: &Asked,
    operations: Vec<Asking>,
) -> Result<Answer, Refusal> {
    let key = asked.partition_key()?;
    if let Some(id) = asked.header("x-ms-documentdb-partitionkeyrangeid") {
        let id = id.rsplit(',').next().unwrap_or(id);
        if !collection.ranges().iter().any(|range| range.id == id) {
            return Err(Refusal::gone(id));
        }
    }
    let goes_on = asked
        .header("x-ms-cosmos-batch-continue-on-error")
        .is_none()
        || asked.flag("x-ms-cosmos-batch-continue-on-error");
    let mut results = Vec::with_capacity(operations.len());
    let mut has_failed = false;
    for operation in operations {
        if has_failed && !goes_on {
            results.push(json!({"statusCode": FAILED_DEPENDENCY, "requestCharge": 0}));
            continue;
        }
        let step = operation.step(key.as_ref())?;
        match collection.execute([step], Numbering::Each) {
            Ok(done) => results.extend(done.iter().map(made)),
            Err(error) => {
                has_failed = true;
                results.push(refused(&error.source));
            }
        }
    }
    let status = if has_failed { 207 } else { 200 };
    let body = Value::Array(results).to_string();
    let charge = charge(body.len(), 5.0);
    Ok(Answer::text(status, body).charge(charge))
}

fn made(done: &Done) -> Value {
    let status = match done.written.operation {
        Operation::Create => 201,
        Operation::Replace | Operation::Upsert => 200,
        Operation::Delete => 204,
    };
    let mut result = json!({"statusCode": status, "requestCharge": 5.0});
    if let Some(etag) = &done.written.etag {
        result["eTag"] = json!(etag);
    }
    if let Some(body) = &done.body {
        result["resourceBody"] = json::value(body).unwrap_or(Value::Null);
    }
    result
}

fn refused(error: &DocumentError) -> Value {
    json!({"statusCode": error.status(), "requestCharge": 1.0, "message": error.to_string()})
}
