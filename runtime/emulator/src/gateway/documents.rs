//! Documents: created, read, replaced, patched and deleted.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Served;
use super::answer::{Answer, Refusal, names};
use super::asked::Asked;
use super::queries;
use crate::collection::Collection;
use crate::feed::Operation;
use crate::json;
use crate::key::PartitionKey;
use crate::patch::{Condition, PatchOperation};
use crate::query::Query;
use crate::write::{Done, Numbering, Step, Write};

impl Served {
    /// Everything that is posted to a container's documents.
    pub(super) fn post(&self, collection: &Collection, asked: &Asked) -> Result<Answer, Refusal> {
        if asked.flag("x-ms-cosmos-is-query-plan-request") {
            queries::plan(asked)
        } else if asked.is_query() {
            Self::query(collection, asked)
        } else if asked.flag("x-ms-cosmos-is-batch-request") {
            Self::batch(collection, asked)
        } else {
            self.create_document(collection, asked)
        }
    }

    fn create_document(&self, collection: &Collection, asked: &Asked) -> Result<Answer, Refusal> {
        let body = asked.text(!self.switches().vnext)?;
        let write = if asked.flag("x-ms-documentdb-is-upsert") {
            Write::Upsert(body)
        } else {
            Write::Create(body)
        };
        // Clients give the key beside the document; those that do not leave it to the server to read.
        Self::write(collection, asked, write, asked.partition_key()?)
    }

    pub(super) fn replace_document(
        &self,
        collection: &Collection,
        id: &str,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        #[derive(Deserialize)]
        struct Named {
            id: Option<String>,
        }
        let key = asked.document_key()?;
        let body = asked.text(!self.switches().vnext)?;
        let named: Named = serde_json::from_slice(&body)
            .map_err(|error| Refusal::bad(format!("the document is no JSON object: {error}")))?;
        if named.id.as_deref() != Some(id) {
            return Err(Refusal::bad(format!(
                "the document's \"id\" is {:?}, the path's is \"{id}\"",
                named.id
            )));
        }
        Self::write(collection, asked, Write::Replace(body), Some(key))
    }

    pub(super) fn patch_document(
        collection: &Collection,
        id: &str,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        let key = asked.document_key()?;
        let patch = Patch::read(asked)?;
        Self::write(collection, asked, patch.write(id, key)?, None)
    }

    pub(super) fn delete_document(
        collection: &Collection,
        id: &str,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        let delete = Write::Delete {
            id: id.to_owned(),
            partition_key: asked.document_key()?,
        };
        Self::write(collection, asked, delete, None)
    }

    pub(super) fn read_document(
        collection: &Collection,
        id: &str,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        let key = asked.document_key()?;
        let item = collection.read(id, &key)?;
        let (range, end) = collection.locate(&key);
        let etag = item.etag.map_or_else(String::new, |etag| etag.to_string());
        let answer = if asked.header("if-none-match") == Some(&etag) {
            Answer::empty(304)
        } else {
            let body = item.current.unwrap_or_default();
            let charge = charge(body.len(), 1.0);
            Answer::text(200, body).charge(charge)
        };
        Ok(answer.header("etag", etag).at(&range, end))
    }

    fn write(
        collection: &Collection,
        asked: &Asked,
        write: Write,
        key: Option<PartitionKey>,
    ) -> Result<Answer, Refusal> {
        let of = match &write {
            Write::Patch { partition_key, .. } | Write::Delete { partition_key, .. } => {
                Some(partition_key.clone())
            }
            _ => key.clone(),
        };
        let step = Step {
            if_match: asked.header("if-match").map(str::to_owned),
            if_none_match: asked.header("if-none-match").map(str::to_owned),
            partition_key: key,
            write,
        };
        let mut done = collection
            .execute([step], Numbering::Each)
            .map_err(|error| Refusal::from(error.source))?;
        let Some(Done { written, body }) = done.pop() else {
            return Err(Refusal::new(
                500,
                "InternalServerError",
                "the write was not answered",
            ));
        };
        let status = match written.operation {
            Operation::Create => 201,
            Operation::Replace | Operation::Upsert => 200,
            Operation::Delete => 204,
        };
        let size = body.as_ref().map_or(0, bytes::Bytes::len);
        let mut answer = match body {
            Some(body) if !asked.is_minimal() => Answer::text(status, body),
            _ => Answer::empty(status),
        }
        .charge(charge(size, 5.0));
        if let Some(etag) = written.etag {
            answer = answer.header("etag", etag);
        }
        if let Some(key) = of {
            let (range, end) = collection.locate(&key);
            answer = answer.at(&range, end);
        }
        Ok(answer.owned_by(&names(collection), collection.rid()))
    }
}

/// What an operation on a document of this size costs, in request units: `least` for the first kilobyte.
pub(super) fn charge(size: usize, least: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "documents are at most megabytes"
    )]
    let kilobytes = size as f64 / 1024.0;
    least * kilobytes.max(1.0)
}

/// A patch, as a client sends it.
#[derive(Deserialize)]
pub(super) struct Patch {
    operations: Vec<Operated>,
    condition: Option<String>,
}

#[derive(Deserialize)]
struct Operated {
    op: String,
    path: String,
    value: Option<Box<RawValue>>,
    from: Option<String>,
}

impl Patch {
    /// An object, or the bare list of operations that the JavaScript client sends where there is no condition.
    fn read(asked: &Asked) -> Result<Self, Refusal> {
        if asked.body.trim_ascii_start().starts_with(b"[") {
            let operations = asked.json()?;
            Ok(Self {
                operations,
                condition: None,
            })
        } else {
            asked.json()
        }
    }

    pub(super) fn write(self, id: &str, partition_key: PartitionKey) -> Result<Write, Refusal> {
        let operations = self
            .operations
            .into_iter()
            .map(Operated::operation)
            .collect::<Result<_, _>>()?;
        let condition = match self.condition {
            None => None,
            Some(text) => {
                let query = Query::parse(&format!("SELECT * {text}"), Vec::new())
                    .map_err(|error| Refusal::bad(format!("the patch's condition: {error}")))?;
                Some(Condition::new(move |body| {
                    json::value(body).is_ok_and(|document| query.matches(&document))
                }))
            }
        };
        Ok(Write::Patch {
            id: id.to_owned(),
            partition_key,
            operations,
            condition,
        })
    }
}

impl Operated {
    fn operation(self) -> Result<PatchOperation, Refusal> {
        let Self {
            op,
            path,
            value,
            from,
        } = self;
        let given = |value: Option<Box<RawValue>>| match value {
            Some(value) => Ok(value.get().to_owned()),
            None => Err(Refusal::bad(format!(
                "the patch operation \"{op}\" of {path} has no \"value\""
            ))),
        };
        Ok(match op.as_str() {
            "add" => PatchOperation::Add {
                value: given(value)?,
                path,
            },
            "set" => PatchOperation::Set {
                value: given(value)?,
                path,
            },
            "replace" => PatchOperation::Replace {
                value: given(value)?,
                path,
            },
            "incr" | "increment" => PatchOperation::Increment {
                value: given(value)?,
                path,
            },
            "remove" => PatchOperation::Remove { path },
            "move" => PatchOperation::Move {
                from: from.ok_or_else(|| {
                    Refusal::bad(format!(
                        "the patch operation \"move\" to {path} has no \"from\""
                    ))
                })?,
                path,
            },
            _ => {
                return Err(Refusal::bad(format!(
                    "the patch operation \"{op}\" is not one of add, set, replace, remove, incr and move"
                )));
            }
        })
    }
}
