//! What the feed promises, one row for each statement, on the emulator through the engine.

mod delivery;
mod history;
pub(crate) mod hooks;
mod identity;
mod latest;
mod rows;
mod starts;
pub(crate) mod world;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;

/// Runs every row, and fails with all those that do not hold.
#[tokio::test(flavor = "multi_thread")]
async fn every_statement_holds() {
    let mut broken = Vec::new();
    for (statement, holds) in rows::all() {
        let passed = AssertUnwindSafe(holds).catch_unwind().await.is_ok();
        println!("{}  {statement}", if passed { "pass" } else { "FAIL" });
        if !passed {
            broken.push(statement);
        }
    }
    assert!(broken.is_empty(), "these do not hold: {broken:#?}");
}
