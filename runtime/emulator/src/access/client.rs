//! The side of a process that does not own the store: one short request a call, on loopback.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::wire::{self, Document, Endpoint, Group, Kind, Line, Refusal};
use super::{AccessError, CollectionInfo};
use crate::key::PartitionKey;
use crate::write::{DocumentError, GroupError, Write, Written};

/// The longest answer.
const ANSWER: u64 = 256 * 1024 * 1024;

/// How long an owner may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection to the process that owns a store.
pub struct Client {
    dir: PathBuf,
    endpoint: Endpoint,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("dir", &self.dir)
            .field("port", &self.endpoint.port)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Finds the owner of the store in a directory and asks whether it is there.
    pub async fn connect(dir: &Path) -> Result<Self, AccessError> {
        let unreachable = |source| AccessError::Unreachable {
            dir: dir.to_owned(),
            source,
        };
        let text = fs::read(Endpoint::path(dir)).map_err(unreachable)?;
        let endpoint = serde_json::from_slice(&text).map_err(|error| unreachable(error.into()))?;
        let client = Self {
            dir: dir.to_owned(),
            endpoint,
        };
        // Another program that has the port by now may never answer.
        let asked = tokio::time::timeout(PATIENCE, client.collections());
        let silent = |_| unreachable(io::Error::from(io::ErrorKind::TimedOut));
        match asked.await.map_err(silent)? {
            // The port of an owner that died may be another program's by now.
            Err(
                AccessError::Refused { message, .. }
                | AccessError::Answer {
                    reason: message, ..
                },
            ) => Err(unreachable(io::Error::other(message))),
            answer => answer.map(|_| client),
        }
    }

    /// Makes a group of writes: all of them or none.
    pub async fn write_many(
        &self,
        collection: &str,
        writes: Vec<Write>,
    ) -> Result<Vec<Written>, AccessError> {
        let group = Group {
            collection: collection.to_owned(),
        };
        let mut request = to_json(&group);
        for (index, write) in writes.into_iter().enumerate() {
            push(&mut request, write).map_err(|source| GroupError { index, source })?;
            if request.len() > wire::LIMIT {
                let source = DocumentError::TooLarge {
                    size: request.len(),
                    limit: wire::LIMIT,
                };
                return Err(GroupError { index, source }.into());
            }
        }
        let answer = self.ask("POST", wire::WRITE, &request).await?;
        self.decode(&answer)
    }

    /// Reads a document's JSON text.
    pub async fn read(
        &self,
        collection: &str,
        id: &str,
        partition_key: &PartitionKey,
    ) -> Result<Bytes, AccessError> {
        let document = Document {
            collection: collection.to_owned(),
            id: id.to_owned(),
            partition_key: partition_key.to_string(),
        };
        self.ask("POST", wire::READ, &to_json(&document)).await
    }

    /// All collections, by name.
    pub async fn collections(&self) -> Result<Vec<CollectionInfo>, AccessError> {
        let answer = self.ask("GET", wire::COLLECTIONS, &[]).await?;
        self.decode(&answer)
    }

    async fn ask(&self, method: &str, path: &str, body: &[u8]) -> Result<Bytes, AccessError> {
        let answer =
            self.exchange(method, path, body)
                .await
                .map_err(|source| AccessError::Unreachable {
                    dir: self.dir.clone(),
                    source,
                })?;
        let (status, body) = split(&answer).map_err(|reason| self.answer(reason))?;
        if status == 200 {
            return Ok(body);
        }
        let refusal = serde_json::from_slice(&body).unwrap_or_else(|_| Refusal {
            message: format!("status {status}: {}", String::from_utf8_lossy(&body)),
            index: None,
        });
        Err(AccessError::Refused {
            status,
            index: refusal.index,
            message: refusal.message,
        })
    }

    async fn exchange(&self, method: &str, path: &str, body: &[u8]) -> io::Result<Bytes> {
        let Endpoint { port, token } = &self.endpoint;
        let mut stream = TcpStream::connect(("127.0.0.1", *port)).await?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body).await?;
        let mut answer = Vec::new();
        stream.take(ANSWER).read_to_end(&mut answer).await?;
        Ok(answer.into())
    }

    fn decode<T: DeserializeOwned>(&self, answer: &Bytes) -> Result<T, AccessError> {
        serde_json::from_slice(answer).map_err(|error| self.answer(&error.to_string()))
    }

    fn answer(&self, reason: &str) -> AccessError {
        AccessError::Answer {
            dir: self.dir.clone(),
            reason: reason.to_owned(),
        }
    }
}

fn push(request: &mut Vec<u8>, write: Write) -> Result<(), DocumentError> {
    let (write, body) = match write {
        Write::Create(body) => (Kind::Create, body),
        Write::Replace(body) => (Kind::Replace, body),
        Write::Upsert(body) => (Kind::Upsert, body),
        Write::Delete { id, partition_key } => {
            let line = Line {
                write: Kind::Delete,
                body: None,
                id: Some(id),
                partition_key: Some(partition_key.to_string()),
            };
            request.extend_from_slice(&to_json(&line));
            return Ok(());
        }
        Write::Patch { .. } | Write::Read { .. } => {
            return Err(DocumentError::BadRequest {
                message:
                    "patches and reads do not go through the owner's loopback; use the gateway"
                        .to_owned(),
            });
        }
    };
    let body: &RawValue =
        serde_json::from_slice(&body).map_err(|error| DocumentError::BadRequest {
            message: format!("the document is no JSON object: {error}"),
        })?;
    let line = Line {
        write,
        body: Some(body),
        id: None,
        partition_key: None,
    };
    request.extend_from_slice(&to_json(&line));
    Ok(())
}

fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).expect("what is sent has a JSON text");
    text.push(b'\n');
    text
}

/// The status and the body of an answer whose length its header says.
fn split(answer: &Bytes) -> Result<(u16, Bytes), &'static str> {
    const BLANK: &[u8] = b"\r\n\r\n";
    let end = answer
        .windows(BLANK.len())
        .position(|window| window == BLANK)
        .ok_or("it has no end of its header")?;
    let head = std::str::from_utf8(&answer[..end]).map_err(|_| "its header is no text")?;
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok())
        .ok_or("it has no status")?;
    let length: usize = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .ok_or("it does not say its length")?;
    let body = answer.slice(end + BLANK.len()..);
    if body.len() == length {
        Ok((status, body))
    } else {
        Err("it ends too early")
    }
}
