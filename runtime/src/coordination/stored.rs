//! A pump's report as databases keep it: as JSON, one row an instance, so that a heartbeat is one write however many pumps
//! it tells of (P16).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{PumpReport, PumpState};
use crate::position::{Bounds, ProjectionId};

/// A [`PumpReport`] as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    tenant: String,
    collection: String,
    projection: String,
    generation: u32,
    bounds: Bounds,
    state: String,
    since: Timestamp,
    attempts: u32,
    error: String,
    retry_at: Option<Timestamp>,
    applied: u64,
}

/// The text of all reports of an instance.
pub(super) fn write(reports: &[PumpReport]) -> String {
    let all: Vec<_> = reports.iter().map(Stored::of).collect();
    serde_json::to_string(&all).expect("reports are always JSON")
}

/// The reports that a text holds.
///
/// # Errors
///
/// What in it this program does not know.
pub(super) fn read(text: &str) -> Result<Vec<PumpReport>, String> {
    let all: Vec<Stored> = serde_json::from_str(text).map_err(|_| text.to_owned())?;
    all.into_iter()
        .map(|stored| {
            let state = stored.state.clone();
            stored.report().ok_or(state)
        })
        .collect()
}

impl Stored {
    fn of(report: &PumpReport) -> Self {
        let PumpReport {
            projection,
            bounds,
            state,
            since,
            attempts,
            error,
            retry_at,
            applied,
        } = report.clone();
        Self {
            tenant: projection.tenant,
            collection: projection.collection,
            projection: projection.name,
            generation: projection.generation,
            bounds,
            state: state.as_str().to_owned(),
            since,
            attempts,
            error,
            retry_at,
            applied,
        }
    }

    /// None: a state that this program does not know.
    fn report(self) -> Option<PumpReport> {
        Some(PumpReport {
            state: PumpState::from_name(&self.state)?,
            projection: ProjectionId {
                tenant: self.tenant,
                collection: self.collection,
                name: self.projection,
                generation: self.generation,
            },
            bounds: self.bounds,
            since: self.since,
            attempts: self.attempts,
            error: self.error,
            retry_at: self.retry_at,
            applied: self.applied,
        })
    }
}
