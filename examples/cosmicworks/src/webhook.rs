//! Tells another service of each order, over HTTP.
//!
//! What leaves the process cannot be rolled back: after a crash, or when the page fails later on,
//! the same changes are sent again. The idempotency key is how the receiver tells a repeat.
//!
//! `register = false` keeps it out of the program until somebody registers it, because it needs a
//! receiver and a [`Target`].

use std::time::Duration;

use projectionist::prelude::*;
use serde_json::Value;

/// Where to send. The program gives it as state.
#[derive(Debug)]
pub struct Target {
    /// The client.
    pub client: reqwest::Client,
    /// The receiver's address.
    pub url: String,
}

// ANCHOR: projection
/// Sends each order to a [`Target`].
#[projection(
    collection = "store",
    name = "webhook",
    only(type = "salesOrder"),
    register = false
)]
#[derive(Debug)]
pub struct Webhook;

impl Webhook {
    #[on_upsert]
    async fn send(
        &self,
        order: Change<Value>,
        target: State<Target>,
        key: IdempotencyKey,
    ) -> Result<Verdict, reqwest::Error> {
        let answer = target
            .client
            .post(&target.url)
            .header("Idempotency-Key", key.as_str())
            .json(&*order)
            .send()
            .await?;
        Ok(match answer.status().as_u16() {
            429 => Verdict::retry_after(retry_after(&answer)),
            // Somebody must look at it: the same request will not fare better.
            400..=499 => Verdict::poison(format!("the receiver says {}", answer.status())),
            _ => {
                answer.error_for_status()?;
                Verdict::Done
            }
        })
    }
}
// ANCHOR_END: projection

fn retry_after(answer: &reqwest::Response) -> Duration {
    let seconds = answer
        .headers()
        .get("Retry-After")
        .and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(5))
}
