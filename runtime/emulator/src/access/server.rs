//! The owner's side: other processes of the same user write and read through it, on loopback.
//!
//! The port and a random token stand in a file that only the user can read; every request must
//! bring the token, and name a loopback host, so that no web page can make a browser ask.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::wire::{self, Document, Endpoint, Group, Kind, Line, Refusal};
use super::{AccessError, CollectionInfo, blocking};
use crate::emulator::{Emulator, EmulatorError};
use crate::key::PartitionKey;
use crate::write::Write;

/// Serves a store until it is dropped.
#[derive(Debug)]
pub struct Server {
    port: u16,
    file: PathBuf,
    task: JoinHandle<()>,
}

struct Served {
    emulator: Emulator,
    endpoint: Endpoint,
}

impl Server {
    /// Starts serving a store that this process opened in `dir`.
    pub async fn start(emulator: Emulator, dir: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        // Not from the emulator's seed: a token that can be computed is none.
        let token = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let endpoint = Endpoint { port, token };
        let file = Endpoint::path(dir);
        publish(&file, &endpoint)?;
        let served = Arc::new(Served { emulator, endpoint });
        let router = Router::new()
            .route(wire::COLLECTIONS, get(collections))
            .route(wire::WRITE, post(write))
            .route(wire::READ, post(read))
            .layer(DefaultBodyLimit::max(wire::LIMIT))
            .layer(middleware::from_fn_with_state(Arc::clone(&served), admit))
            .with_state(served);
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "the emulator's loopback server ended");
            }
        });
        Ok(Self { port, file, task })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        if let Err(error) = fs::remove_file(&self.file) {
            tracing::debug!(%error, file = %self.file.display(), "cannot remove the endpoint");
        }
    }
}

/// Writes the endpoint's file whole or not at all, readable by its user only.
fn publish(file: &Path, endpoint: &Endpoint) -> io::Result<()> {
    let temporary = file.with_extension("endpoint.new");
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?
        .write_all(&serde_json::to_vec(endpoint)?)?;
    fs::rename(&temporary, file)
}

async fn admit(State(served): State<Arc<Served>>, request: Request, next: Next) -> Response {
    let Endpoint { port, token } = &served.endpoint;
    let headers = request.headers();
    let host = text(headers, header::HOST).and_then(|host| host.rsplit_once(':'));
    let is_loopback = host.is_some_and(|(name, at)| {
        matches!(name, "127.0.0.1" | "localhost") && at == port.to_string()
    });
    if !is_loopback {
        return refuse(403, None, "the host is not this loopback address");
    }
    let given = text(headers, header::AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
    if !given.is_some_and(|given| is_same(given.as_bytes(), token.as_bytes())) {
        return refuse(401, None, "the token is missing or wrong");
    }
    next.run(request).await
}

/// Compares without an answer time that tells how much was right.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && differences == 0
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

async fn collections(State(served): State<Arc<Served>>) -> Json<Vec<CollectionInfo>> {
    let collections = served.emulator.collections();
    Json(
        collections
            .iter()
            .map(|collection| CollectionInfo::of(collection))
            .collect(),
    )
}

async fn write(State(served): State<Arc<Served>>, body: Bytes) -> Response {
    let (group, writes) = match parse(&body) {
        Ok(parsed) => parsed,
        Err(message) => return refuse(400, None, message),
    };
    let collection = match served.emulator.collection(&group.collection) {
        Ok(collection) => collection,
        Err(error) => return refusal(error.into()),
    };
    match blocking(move || collection.write_many(writes)).await {
        Ok(written) => Json(written).into_response(),
        Err(error) => refusal(error.into()),
    }
}

fn parse(body: &Bytes) -> Result<(Group, Vec<Write>), String> {
    let mut values = serde_json::Deserializer::from_slice(body);
    let group = serde::Deserialize::deserialize(&mut values)
        .map_err(|error: serde_json::Error| format!("the request does not decode: {error}"))?;
    let mut writes = Vec::new();
    for line in values.into_iter::<Line<'_>>() {
        let line =
            line.map_err(|error| format!("write {} does not decode: {error}", writes.len()))?;
        let body = || {
            line.body
                .map(|body| body.get().as_bytes())
                .map(|text| body.slice_ref(text))
                .ok_or("a write without a body")
        };
        writes.push(match line.write {
            Kind::Create => Write::Create(body()?),
            Kind::Replace => Write::Replace(body()?),
            Kind::Upsert => Write::Upsert(body()?),
            Kind::Delete => Write::Delete {
                id: line.id.ok_or("a delete without an id")?,
                partition_key: key(&line
                    .partition_key
                    .ok_or("a delete without a partition key")?)?,
            },
        });
    }
    Ok((group, writes))
}

fn key(text: &str) -> Result<PartitionKey, String> {
    PartitionKey::from_json(text).map_err(|error| error.to_string())
}

async fn read(State(served): State<Arc<Served>>, Json(document): Json<Document>) -> Response {
    let partition_key = match key(&document.partition_key) {
        Ok(key) => key,
        Err(message) => return refuse(400, None, message),
    };
    let collection = match served.emulator.collection(&document.collection) {
        Ok(collection) => collection,
        Err(error) => return refusal(error.into()),
    };
    match collection.read(&document.id, &partition_key) {
        Ok(item) => item.current.unwrap_or_default().into_response(),
        Err(error) => refusal(error.into()),
    }
}

fn refusal(error: AccessError) -> Response {
    match error {
        AccessError::Refused {
            status,
            index,
            message,
        } => refuse(status, index, message),
        AccessError::Emulator(error @ EmulatorError::Unknown { .. }) => {
            refuse(404, None, error.to_string())
        }
        other => refuse(500, None, super::chain(&other)),
    }
}

fn refuse(status: u16, index: Option<usize>, message: impl Into<String>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let message = message.into();
    (status, Json(Refusal { message, index })).into_response()
}
