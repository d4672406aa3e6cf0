//! Answers, and refusals with the status, sub-status and code of the service.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use serde_json::{Value, json};
use std::error::Error;
use uuid::Uuid;

use super::asked::Asked;
use crate::collection::{Collection, RangeError};
use crate::config::Range;
use crate::emulator::EmulatorError;
use crate::feed::FeedError;
use crate::write::DocumentError;

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Option<Bytes>,
}

impl Answer {
    /// An answer without a body.
    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: None,
        }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, body.to_string())
    }

    /// An answer whose body is JSON text.
    pub(super) fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            body: Some(body.into()),
            ..Self::empty(status)
        }
    }

    #[must_use]
    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub(super) fn charge(self, units: f64) -> Self {
        self.header("x-ms-request-charge", format!("{units:.2}"))
    }

    /// With the session token of a range and where it stands.
    #[must_use]
    pub(super) fn at(self, range: &Range, end: u64) -> Self {
        self.header("x-ms-session-token", format!("{}:0#{end}", range.id))
            .header("lsn", end.to_string())
            .header("x-ms-global-committed-lsn", end.to_string())
            .header("x-ms-documentdb-partitionkeyrangeid", range.id.as_str())
    }

    /// With the path of what owns the resource, by names and by resource id. Clients that address by resource id learn
    /// the names from it.
    #[must_use]
    pub(super) fn owned_by(self, names: &str, rid: &str) -> Self {
        self.header("x-ms-alt-content-path", names)
            .header("x-ms-content-path", rid)
    }

    pub(super) fn into_response(self, activity: &str) -> Response<Body> {
        let Self {
            status,
            headers,
            body,
        } = self;
        let mut response = Response::new(body.map_or_else(Body::empty, Body::from));
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let map = response.headers_mut();
        let activity = if activity.is_empty() {
            Uuid::new_v4().to_string()
        } else {
            activity.to_owned()
        };
        let always = [
            ("x-ms-activity-id", activity),
            ("x-ms-gatewayversion", "2.0.0".to_owned()),
            (
                "x-ms-serviceversion",
                concat!("projectionist ", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
        ];
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in always.into_iter().chain(headers) {
            // Names of resources can have any characters; a header only some.
            if let Ok(value) = HeaderValue::from_str(&value) {
                map.insert(HeaderName::from_static(name), value);
            }
        }
        if !map.contains_key("x-ms-request-charge") {
            map.insert("x-ms-request-charge", HeaderValue::from_static("1.00"));
        }
        response
    }
}

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) substatus: u32,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) retry_after_ms: Option<u64>,
    /// The plan of a query that is to be run over each range.
    pub(super) plan: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            substatus: 0,
            code,
            message: message.into(),
            retry_after_ms: None,
            plan: None,
        }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(super) fn missing(what: &str) -> Self {
        Self::new(404, "NotFound", format!("Resource Not Found: {what}"))
    }

    pub(super) fn sub(mut self, substatus: u32) -> Self {
        self.substatus = substatus;
        self
    }

    /// Some clients ask for the plan by the substatus, others because it is here.
    pub(super) fn plan(mut self, plan: String) -> Self {
        self.plan = Some(plan);
        self
    }

    /// A request that is none of those known.
    pub(super) fn unknown(asked: &Asked) -> Self {
        let message = format!(
            "{} {} is not supported by this emulator",
            asked.method, asked.path
        );
        match asked.method.as_str() {
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" => Self::bad(message),
            _ => Self::new(405, "MethodNotAllowed", message),
        }
    }

    /// The range is not one of the container any more.
    pub(super) fn gone(range: &str) -> Self {
        Self::new(
            410,
            "Gone",
            format!("The requested resource is no longer available at the server: partition key range {range} is gone, it was split or merged"),
        )
        .sub(1002)
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let Refusal {
            status,
            substatus,
            code,
            message,
            retry_after_ms,
            plan,
        } = refusal;
        let mut body = json!({"code": code, "message": message});
        if let Some(plan) = plan {
            body["additionalErrorInfo"] = json!(plan);
        }
        let mut answer = Self::json(status, &body).header("x-ms-substatus", substatus.to_string());
        if let Some(pause) = retry_after_ms {
            answer = answer.header("x-ms-retry-after-ms", pause.to_string());
        }
        answer
    }
}

impl From<DocumentError> for Refusal {
    fn from(error: DocumentError) -> Self {
        let status = error.status();
        let code = match status {
            404 => "NotFound",
            409 => "Conflict",
            412 => "PreconditionFailed",
            413 => "RequestEntityTooLarge",
            500 => "InternalServerError",
            _ => "BadRequest",
        };
        let substatus = match error {
            DocumentError::KeyMismatch { .. } => 1001,
            DocumentError::Dropped { .. } => 1003,
            _ => 0,
        };
        Self::new(status, code, chain(&error)).sub(substatus)
    }
}

impl From<EmulatorError> for Refusal {
    fn from(error: EmulatorError) -> Self {
        let message = chain(&error);
        match error {
            EmulatorError::Config { .. } | EmulatorError::Changed { .. } => Self::bad(message),
            EmulatorError::DatabaseExists { .. } | EmulatorError::CollectionExists { .. } => {
                Self::new(409, "Conflict", message)
            }
            EmulatorError::Unknown { .. } | EmulatorError::UnknownDatabase { .. } => {
                Self::new(404, "NotFound", message)
            }
            EmulatorError::Owned { .. } | EmulatorError::Journal(_) => {
                Self::new(500, "InternalServerError", message)
            }
        }
    }
}

impl From<RangeError> for Refusal {
    fn from(error: RangeError) -> Self {
        match error {
            RangeError::Refused(message) => Self::bad(message),
            RangeError::Journal(error) => Self::new(500, "InternalServerError", chain(&error)),
        }
    }
}

/// An error and its causes: that the disk is full is a cause.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut link = error.source();
    while let Some(cause) = link {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        link = cause.source();
    }
    text
}

/// A feed's error, of a read of this range.
pub(super) fn feed_refusal(error: &FeedError, range: &str) -> Refusal {
    let message = chain(error);
    match error {
        FeedError::Gone { .. } => Refusal::gone(range),
        FeedError::Dropped { .. } => Refusal::new(404, "NotFound", message).sub(1003),
        FeedError::NoRetention { .. } => Refusal::bad(format!(
            "Change Feed 'All Versions and Deletes' mode must be enabled: {message}"
        )),
        FeedError::Start { .. } | FeedError::RetentionExceeded { .. } => Refusal::bad(format!(
            "You must read the change feed from within the retention period. {message}"
        )),
        FeedError::Merged { .. } | FeedError::BeyondEnd { .. } | FeedError::Bounds { .. } => {
            Refusal::bad(message)
        }
        FeedError::Journal(_) => Refusal::new(500, "InternalServerError", message),
    }
}

/// The path by names of what owns a document.
pub(super) fn names(collection: &Collection) -> String {
    format!("dbs/{}/colls/{}", collection.database(), collection.name())
}
