//! Writes down what pumps are doing, on a thread of its own: hooks that block every worker of the
//! runtime cannot silence it (I11, P9).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::board::{Board, Seat};
use crate::clock::Clock;
use crate::coordination::{Coordination, Instance, PumpReport, PumpState};
use crate::engine::Limits;

/// The thread that reports.
#[derive(Debug)]
pub(crate) struct Reporter {
    thread: Option<JoinHandle<()>>,
    end: CancellationToken,
}

/// Since when a seat shows the same change in hand.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: Option<usize>,
    applied: u64,
    since: Timestamp,
    /// Whether its hanging was logged.
    told: bool,
}

impl Reporter {
    pub(crate) fn start(
        board: Arc<Board>,
        coordination: Arc<dyn Coordination>,
        instance: Instance,
        clock: Arc<dyn Clock>,
        limits: Limits,
    ) -> Self {
        let end = CancellationToken::new();
        let ended = end.clone();
        let thread = std::thread::Builder::new()
            .name("projectionist-reporter".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                match runtime {
                    Ok(runtime) => runtime.block_on(report(
                        &board,
                        &*coordination,
                        &instance,
                        &*clock,
                        limits,
                        &ended,
                    )),
                    Err(error) => tracing::error!("the reporter could not start: {error}"),
                }
            });
        if let Err(error) = &thread {
            tracing::error!("the reporter could not start: {error}");
        }
        Self {
            thread: thread.ok(),
            end,
        }
    }

    /// Writes down the last states and ends.
    pub(crate) fn end(mut self) {
        self.end.cancel();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the reporter panicked");
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

async fn report(
    board: &Board,
    coordination: &dyn Coordination,
    instance: &Instance,
    clock: &dyn Clock,
    limits: Limits,
    end: &CancellationToken,
) {
    // Changes of state show soon, but a storm of them costs no more than this many writes a second.
    const SOON: Duration = Duration::from_millis(200);
    let mut looks = BTreeMap::new();
    let mut changes = board.changes();
    let mut complained = false;
    loop {
        let last = end.is_cancelled();
        let now = clock.now();
        changes.mark_unchanged();
        let reports = look(&board.seats(), &mut looks, now, limits.hook);
        match coordination.beat(instance, now, &reports).await {
            Ok(()) => complained = false,
            Err(error) if complained => tracing::debug!("{error}"),
            Err(error) => {
                complained = true;
                tracing::warn!(
                    "the state of the pumps cannot be written down: {}",
                    crate::apply::chain(&error).join(": ")
                );
            }
        }
        if last {
            return;
        }
        tokio::select! {
            () = end.cancelled() => continue,
            () = clock.sleep(SOON.min(limits.heartbeat)) => {}
        }
        tokio::select! {
            () = end.cancelled() => {}
            _ = changes.changed() => {}
            () = clock.sleep(limits.heartbeat.saturating_sub(SOON)) => {}
        }
    }
}

/// The reports, with hung hooks found out: looks are by the seat's number.
fn look(
    seats: &[Arc<Seat>],
    looks: &mut BTreeMap<u64, Look>,
    now: Timestamp,
    limit: Duration,
) -> Vec<PumpReport> {
    looks.retain(|number, _| seats.iter().any(|seat| seat.number == *number));
    seats
        .iter()
        .map(|seat| {
            let mut report = seat.report();
            let fresh = Look {
                at: seat.pulse.hook_at(),
                applied: report.applied,
                since: now,
                told: false,
            };
            let look = looks.entry(seat.number).or_insert(fresh);
            if look.at != fresh.at || look.applied != fresh.applied {
                *look = fresh;
            }
            if look.at.is_some()
                && crate::clock::after(look.since, limit) < now
                && let Some(place) = seat.pulse.place()
            {
                report.state = PumpState::Hung;
                report.since = look.since;
                report.error = format!("{place} does not come back: it blocks its thread");
                if !look.told {
                    look.told = true;
                    let PumpReport {
                        projection,
                        bounds,
                        error,
                        ..
                    } = &report;
                    tracing::error!(projection = %projection.name, range = %bounds, "{error}");
                }
            }
            report
        })
        .collect()
}
