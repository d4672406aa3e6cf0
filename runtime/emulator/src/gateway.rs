//! The REST protocol of Cosmos DB over HTTP/1.1, HTTP/2 and HTTPS, so that any SDK can use the local collections.
//!
//! What is not supported is refused by name; no request gets an answer that the service would not give. Requests carry
//! the account key's signature. It listens on loopback alone.

mod account;
mod answer;
mod asked;
mod auth;
mod batch;
mod binary;
mod containers;
mod control;
mod documents;
mod faults;
mod feed;
mod queries;
#[cfg(test)]
mod tests;
mod tls;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::answer::{Answer, Refusal};
use self::asked::Asked;
use self::auth::Key;
use self::faults::{Fate, Faults};
use crate::emulator::Emulator;
use crate::options::Clock;

/// The account key of every Cosmos DB emulator.
pub const WELL_KNOWN_KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
/// The port of every Cosmos DB emulator.
pub const DEFAULT_PORT: u16 = 8081;
/// The longest request body: a batch of two megabytes, with room for its envelope.
const BODY_LIMIT: usize = 8 * 1024 * 1024;

/// What the live service leaves open, or differs in from one emulator to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Switches {
    /// Whether a delete carries `"current": {}` instead of no `current`.
    pub empty_current: bool,
    /// Whether a delete's partition key is an array instead of an object by paths.
    pub array_keys: bool,
    /// Whether new containers retain previous images.
    pub previous_images: bool,
    /// The quirks of Microsoft's Linux emulator: bare documents in the feed, no all-versions mode, a retention window of
    /// zero, binary bodies refused, and `now` that replays from the beginning.
    pub vnext: bool,
}

/// How a gateway runs.
#[derive(Clone)]
pub struct GatewayOptions {
    /// The port on 127.0.0.1; 0 for any.
    pub port: u16,
    /// The account key, in Base64.
    pub key: String,
    /// Whether it speaks HTTPS, with a certificate that it makes. The certificate is written into this folder.
    pub https: Option<PathBuf>,
    /// Whether `/_control` is there.
    pub control: bool,
    /// How many ranges a new container has whose throughput asks for no more.
    pub ranges: u32,
    /// What differs.
    pub switches: Switches,
    /// The clock to be moved by `/_control/clock`.
    pub clock: Option<MovableClock>,
}

impl GatewayOptions {
    /// HTTP on a port, the well-known key, one range, no control.
    pub fn new(port: u16) -> Self {
        Self {
            port,
            key: WELL_KNOWN_KEY.to_owned(),
            https: None,
            control: false,
            ranges: 1,
            switches: Switches::default(),
            clock: None,
        }
    }
}

/// Without the key.
impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions")
            .field("port", &self.port)
            .field("https", &self.https)
            .field("control", &self.control)
            .field("ranges", &self.ranges)
            .field("switches", &self.switches)
            .finish_non_exhaustive()
    }
}

/// A clock that can be moved ahead.
#[derive(Clone, Debug, Default)]
pub struct MovableClock(Arc<AtomicI64>);

impl MovableClock {
    /// The clock, as an emulator takes it: another one, moved.
    pub fn over(&self, clock: Clock) -> Clock {
        let ahead = Arc::clone(&self.0);
        Arc::new(move || {
            let now: Timestamp = clock();
            let ahead = jiff::SignedDuration::from_secs(ahead.load(Ordering::Relaxed));
            now.saturating_add(ahead).unwrap_or(Timestamp::MAX)
        })
    }

    /// Moves it ahead.
    pub fn advance(&self, seconds: u32) {
        self.0.fetch_add(i64::from(seconds), Ordering::Relaxed);
    }
}

/// A gateway at work, until it is dropped.
#[derive(Debug)]
pub struct Gateway {
    url: String,
    port: u16,
    certificate: Option<PathBuf>,
    task: JoinHandle<()>,
}

impl Gateway {
    /// Starts one. Must be called inside a tokio runtime.
    pub async fn start(emulator: Emulator, options: GatewayOptions) -> io::Result<Self> {
        let key = Key::new(&options.key)
            .map_err(|reason| io::Error::new(io::ErrorKind::InvalidInput, reason))?;
        let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
        let port = listener.local_addr()?.port();
        let tls = match &options.https {
            Some(folder) => Some(tls::Certificate::make(folder)?),
            None => None,
        };
        let url = match &tls {
            Some(_) => format!("https://localhost:{port}/"),
            None => format!("http://127.0.0.1:{port}/"),
        };
        let served = Arc::new(Served {
            emulator,
            key,
            url: url.clone(),
            control: options.control,
            ranges: options.ranges,
            switches: RwLock::new(options.switches),
            clock: options.clock,
            faults: Faults::default(),
        });
        let router = Router::new().fallback(serve).with_state(served);
        // Without this each small answer waits for the other side's acknowledgement.
        let listener = listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "cannot set TCP_NODELAY");
            }
        });
        let certificate = tls.as_ref().map(|tls| tls.file.clone());
        let task = match tls {
            None => tokio::spawn(async move { ended(axum::serve(listener, router).await) }),
            Some(tls) => {
                let listener = tls::TlsListener::new(listener, tls);
                tokio::spawn(async move { ended(axum::serve(listener, router).await) })
            }
        };
        Ok(Self {
            url,
            port,
            certificate,
            task,
        })
    }

    /// The account's endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The file with the certificate, in PEM, where it speaks HTTPS.
    pub fn certificate(&self) -> Option<&std::path::Path> {
        self.certificate.as_deref()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn ended(served: io::Result<()>) {
    if let Err(error) = served {
        tracing::error!(%error, "the gateway ended");
    }
}

/// What requests are answered from.
struct Served {
    emulator: Emulator,
    key: Key,
    url: String,
    control: bool,
    ranges: u32,
    switches: RwLock<Switches>,
    clock: Option<MovableClock>,
    faults: Faults,
}

impl Served {
    fn switches(&self) -> Switches {
        *self.switches.read().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(State(served): State<Arc<Served>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        let error = Refusal::new(
            413,
            "RequestEntityTooLarge",
            format!("the request's body is longer than {BODY_LIMIT} bytes, or broke off"),
        );
        return Answer::from(error).into_response("");
    };
    let asked = match Asked::new(&parts, body) {
        Ok(asked) => asked,
        Err(error) => return Answer::from(error).into_response(""),
    };
    let activity = asked.header("x-ms-activity-id").unwrap_or("").to_owned();
    let fate = served.faults.fate(&asked);
    if let Some(delay) = fate.delay() {
        tokio::time::sleep(delay).await;
    }
    // Writes wait for the disk.
    let work = move || served.answer(&asked, &fate);
    let answer = match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!(%error, "a request of the gateway panicked");
            Refusal::new(
                500,
                "InternalServerError",
                "the emulator has a defect: see its log",
            )
            .into()
        }
    };
    answer.into_response(&activity)
}

impl Served {
    fn answer(&self, asked: &Asked, fate: &Fate) -> Answer {
        let result = match fate {
            Fate::Refused(refusal, _) => Err(refusal.clone()),
            Fate::Lost(refusal, _) => self.route(asked).and(Err(refusal.clone())),
            Fate::Served(_) => self.route(asked),
        };
        result.unwrap_or_else(|refusal| {
            tracing::debug!(
                method = %asked.method, path = %asked.path, status = refusal.status,
                "refused: {}", refusal.message
            );
            refusal.into()
        })
    }

    fn route(&self, asked: &Asked) -> Result<Answer, Refusal> {
        let path: Vec<_> = asked.segments.iter().map(String::as_str).collect();
        if let ["_control", rest @ ..] = path.as_slice() {
            return self.control(asked, rest);
        }
        self.key.check(asked)?;
        match (asked.method.as_str(), path.as_slice()) {
            ("GET", []) => Ok(self.account(asked)),
            ("GET", ["dbs"]) => Ok(self.list_databases()),
            ("POST", ["dbs"]) => self.create_database(asked),
            ("GET", ["dbs", database]) => self.read_database(database),
            ("DELETE", ["dbs", database]) => self.delete_database(database),
            ("GET", ["dbs", database, "colls"]) => self.list_containers(database),
            ("POST", ["dbs", database, "colls"]) => self.create_container(database, asked),
            ("GET", ["dbs", database, "colls", name]) => self.read_container(database, name),
            ("PUT", ["dbs", database, "colls", name]) => {
                self.replace_container(database, name, asked)
            }
            ("DELETE", ["dbs", database, "colls", name]) => self.delete_container(database, name),
            ("GET" | "POST", ["offers"]) => Ok(Answer::json(
                200,
                &serde_json::json!({"_rid": "", "Offers": [], "_count": 0}),
            )),
            (method, ["dbs", database, "colls", name, rest @ ..]) => {
                let collection = self.container(database, name)?;
                asked.check_collection(&collection)?;
                let answer = match (method, rest) {
                    ("GET", ["pkranges"]) => Ok(Self::ranges(&collection, asked)),
                    ("GET", ["docs"]) if asked.header("a-im").is_some() => {
                        self.read_feed(&collection, asked)
                    }
                    ("GET", ["docs"]) => Self::list_documents(&collection, asked),
                    ("POST", ["docs"]) => self.post(&collection, asked),
                    ("GET", ["docs", id]) => Self::read_document(&collection, id, asked),
                    ("PUT", ["docs", id]) => self.replace_document(&collection, id, asked),
                    ("PATCH", ["docs", id]) => Self::patch_document(&collection, id, asked),
                    ("DELETE", ["docs", id]) => Self::delete_document(&collection, id, asked),
                    _ => Err(Refusal::unknown(asked)),
                };
                let owner = format!("dbs/{}/colls/{}", collection.database(), collection.name());
                answer.map(|answer| answer.owned_by(&owner, collection.rid()))
            }
            _ => Err(Refusal::unknown(asked)),
        }
    }
}

/// A pause that a fault makes.
fn millis(pause: u64) -> Duration {
    Duration::from_millis(pause)
}
