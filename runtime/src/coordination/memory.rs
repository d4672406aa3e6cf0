//! Coordination in memory: for one process, and for tests.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use jiff::Timestamp;

use super::{Coordination, Instance, PumpReport, Roll};
use crate::store::StoreError;

/// Coordination in memory. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct MemoryCoordination(Arc<Mutex<Vec<Roll>>>);

impl MemoryCoordination {
    /// Nobody is written down yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Coordination for MemoryCoordination {
    fn beat<'a>(
        &'a self,
        instance: &'a Instance,
        at: Timestamp,
        pumps: &'a [PumpReport],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let roll = Roll {
            instance: instance.clone(),
            seen_at: at,
            pumps: pumps.to_vec(),
        };
        // One instance lives at a time: who is not this one has left.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![roll];
        Box::pin(async { Ok(()) })
    }

    fn rolls(&self) -> BoxFuture<'_, Result<Vec<Roll>, StoreError>> {
        Box::pin(async {
            Ok(self
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone())
        })
    }
}
