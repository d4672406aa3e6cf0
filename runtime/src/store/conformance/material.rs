//! What the cases are made of.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use jiff::Timestamp;
use projectionist::change::Operation;
use projectionist::needs::Mode;
use projectionist::verdict::BoxError;

use super::Subject;
use crate::letters::{LetterFilter, NewLetter};
use crate::position::{Bounds, Position, ProjectionId};
use crate::store::{Advance, Checkpoint, NewCheckpoint};

/// A time, so many seconds after the first.
pub(super) fn second(second: i64) -> Timestamp {
    Timestamp::new(1_800_000_000 + second, 123_456_000).expect("it is in range")
}

pub(super) fn projection(name: &str) -> ProjectionId {
    ProjectionId {
        tenant: String::new(),
        collection: "emulator/shop/orders".to_owned(),
        name: name.to_owned(),
        generation: 1,
    }
}

pub(super) fn bounds(min: &str, max: &str) -> Bounds {
    Bounds {
        min: min.to_owned(),
        max: max.to_owned(),
    }
}

pub(super) fn checkpoint(name: &str) -> NewCheckpoint {
    NewCheckpoint {
        projection: projection(name),
        rid: "rid-1".to_owned(),
        bounds: bounds("", "FF"),
        mode: Mode::LatestVersion,
        start: "beginning".to_owned(),
        position: None,
        at: second(0),
    }
}

/// A checkpoint that was made and taken.
pub(super) async fn taken(subject: &dyn Subject, name: &str) -> Result<Checkpoint, BoxError> {
    let made = subject.store().create(&checkpoint(name)).await?;
    take(subject, &made).await
}

/// Takes the lease again.
pub(super) async fn take(
    subject: &dyn Subject,
    checkpoint: &Checkpoint,
) -> Result<Checkpoint, BoxError> {
    let taken = subject.store().take(&checkpoint.lease, second(1)).await?;
    taken.ok_or_else(|| "the checkpoint is gone".into())
}

/// The checkpoint as it stands.
pub(super) async fn standing(
    subject: &dyn Subject,
    checkpoint: &Checkpoint,
) -> Result<Checkpoint, BoxError> {
    let all = subject.store().checkpoints().await?;
    all.into_iter()
        .find(|row| row.lease == checkpoint.lease)
        .ok_or_else(|| "the checkpoint is gone".into())
}

/// The next step of a checkpoint.
pub(super) fn advance(checkpoint: &Checkpoint) -> Advance {
    Advance {
        lease: checkpoint.lease.clone(),
        epoch: checkpoint.epoch,
        version: checkpoint.version,
        position: Position::new(format!("after page {}", checkpoint.version)),
        at: second(2),
    }
}

pub(super) fn letter(checkpoint: &Checkpoint, key: &str) -> NewLetter {
    NewLetter {
        projection: checkpoint.projection.clone(),
        lease: checkpoint.lease.clone(),
        bounds: checkpoint.bounds.clone(),
        key: key.to_owned(),
        partition_key: r#"["t1"]"#.to_owned(),
        document_id: format!("document of {key}"),
        sequence: Some(7),
        operation: Operation::Upsert,
        etag: Some("\"etag\"".to_owned()),
        written_at: second(-60),
        hook: "put".to_owned(),
        errors: vec!["outer".to_owned(), "inner".to_owned()],
        attempts: 1,
        failed_at: second(3),
        build: "0.1.0".to_owned(),
        body: Some(Bytes::from_static(b"{\"id\":1}")),
    }
}

/// The keys of all letters, oldest first.
pub(super) async fn keys(subject: &dyn Subject) -> Result<Vec<String>, BoxError> {
    let letters = subject.store().letters(&LetterFilter::default()).await?;
    Ok(letters
        .into_iter()
        .map(|letter| letter.content.key)
        .collect())
}

/// Polls a future so many times, and drops it if it is not done then.
pub(super) async fn polled<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = times;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
