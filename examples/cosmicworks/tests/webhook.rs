//! The webhook, against a receiver on this machine.

#![expect(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use cosmicworks::webhook::{Target, Webhook};
use projectionist_runtime::testing;
use serde_json::json;

/// A receiver: what it will answer, and the idempotency keys that it saw with their bodies.
#[derive(Clone, Default)]
struct Receiver {
    answers: Arc<Mutex<VecDeque<u16>>>,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Receiver {
    /// Listens; 200 once all `answers` are given.
    async fn listen(answers: &[u16]) -> (Self, Target) {
        let receiver = Self::default();
        receiver.answers.lock().unwrap().extend(answers);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/orders", listener.local_addr().unwrap());
        let app = Router::new()
            .route("/orders", post(take))
            .with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let client = reqwest::Client::new();
        (receiver, Target { client, url })
    }

    fn seen(&self) -> Vec<(String, String)> {
        self.seen.lock().unwrap().clone()
    }
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, body: String) -> StatusCode {
    let key = headers["Idempotency-Key"].to_str().unwrap().to_owned();
    receiver.seen.lock().unwrap().push((key, body));
    let answer = receiver.answers.lock().unwrap().pop_front().unwrap_or(200);
    StatusCode::from_u16(answer).unwrap()
}

async fn projector(target: Target) -> testing::Result<testing::Projector> {
    testing::Projector::of::<Webhook>()
        .partition_key("/customerId")
        .state(target)
        .sqlite()
        .await
}

#[tokio::test]
async fn a_repeat_has_the_same_key() -> testing::Result {
    let (receiver, target) = Receiver::listen(&[]).await;
    let mut t = projector(target).await?;
    t.upsert(json!({ "id": "one", "customerId": "ada", "type": "salesOrder", "n": 1 }))
        .await?;
    t.upsert(json!({ "id": "ada", "customerId": "ada", "type": "customer" }))
        .await?;
    t.deliver_twice().settle().await?;
    let seen = receiver.seen();
    assert_eq!(
        seen.len(),
        2,
        "the order twice, the customer never: {seen:?}"
    );
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].1.contains(r#""n":1"#));
    t.upsert(json!({ "id": "one", "customerId": "ada", "type": "salesOrder", "n": 2 }))
        .await?;
    t.settle().await?;
    assert_ne!(
        receiver.seen()[2].0,
        seen[0].0,
        "another version has another key"
    );
    Ok(())
}

#[tokio::test]
async fn a_receiver_that_is_down_or_busy_is_asked_again() -> testing::Result {
    let (receiver, target) = Receiver::listen(&[503, 429]).await;
    let mut t = projector(target).await?;
    t.upsert(json!({ "id": "one", "customerId": "ada", "type": "salesOrder" }))
        .await?;
    t.settle().await?;
    let seen = receiver.seen();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen.iter().all(|(key, _)| *key == seen[0].0));
    assert!(t.dead_letters().await?.is_empty());
    Ok(())
}
