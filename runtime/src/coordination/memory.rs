//! Coordination in this process only: for tests and benches.

use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::{Coordination, Instance, PumpReport, Roll};
use crate::store::StoreError;

/// Coordination in memory.
#[derive(Debug, Default)]
pub struct MemoryCoordination(Mutex<Vec<Roll>>);

impl Coordination for MemoryCoordination {
    fn beat<'a>(
        &'a self,
        instance: &'a Instance,
        at: Timestamp,
        pumps: &'a [PumpReport],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut rolls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rolls.retain(|roll| roll.instance.name != instance.name);
        rolls.push(Roll {
            instance: instance.clone(),
            seen_at: at,
            pumps: pumps.to_vec(),
        });
        Box::pin(async { Ok(()) })
    }

    fn rolls(&self) -> BoxFuture<'_, Result<Vec<Roll>, StoreError>> {
        let rolls = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Box::pin(async { Ok(rolls) })
    }
}
