//! Owners that race for one lease, and die anywhere (I2, I3).

use std::sync::Arc;

use fastrand::Rng;
use futures_util::future::try_join_all;
use projectionist::verdict::BoxError;

use super::material::{advance, keys, letter, polled, standing, take, taken};
use super::{Outcome, Shared, Subject, claim, same};
use crate::store::{Checkpoint, CommitError, StoreError};

super::cases![
    racing_owners_count_exactly,
    racing_owners_that_die_anywhere_count_exactly,
];

const OWNERS: u64 = 4;

const PAGES: u64 = 100;

/// How a page of a race ends.
enum End {
    Committed,
    Lost,
}

async fn page(subject: &dyn Subject, owned: &Checkpoint) -> Result<End, BoxError> {
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 1).await?;
    effects
        .put(&[letter(owned, &format!("page {}", owned.version))])
        .await?;
    match effects.commit(&advance(owned)).await {
        Ok(()) => Ok(End::Committed),
        Err(CommitError::Fenced(_) | CommitError::Store(StoreError::Busy { .. })) => Ok(End::Lost),
        Err(error) => Err(error.into()),
    }
}

/// Runs pages, steals the lease now and then, and lets go of some pages half-way, until `pages` are committed by anyone.
async fn own(
    subject: Shared,
    mut owned: Checkpoint,
    mut random: Rng,
    pages: u64,
    deaths: bool,
) -> Outcome {
    while owned.version < pages {
        let polls = if deaths && random.u8(..) < 64 {
            random.usize(1..24)
        } else {
            usize::MAX
        };
        match polled(page(&*subject, &owned), polls).await.transpose()? {
            Some(End::Committed) => owned.version += 1,
            Some(End::Lost) | None => {
                // Who takes back at once what was just taken keeps everybody from ever committing. Looking
                // takes time without a clock.
                for _ in 0..random.u8(..64) {
                    standing(&*subject, &owned).await?;
                }
                owned = take(&*subject, &owned).await?;
            }
        }
        if random.u8(..) < 24 {
            owned = take(&*subject, &owned).await?;
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn race(subject: Shared, seed: u64, pages: u64, deaths: bool) -> Outcome {
    let start = taken(&*subject, "one").await?;
    let owners = (0..OWNERS).map(|owner| {
        let random = Rng::with_seed(seed + owner);
        tokio::spawn(own(
            Arc::clone(&subject),
            start.clone(),
            random,
            pages,
            deaths,
        ))
    });
    for ended in try_join_all(owners).await? {
        ended.map_err(|error| format!("seed {seed}: {error}"))?;
    }
    let end = standing(&*subject, &start).await?;
    claim!(
        end.version >= pages,
        "seed {seed}: {} of {pages} pages were committed",
        end.version
    );
    claim!(
        end.epoch > OWNERS,
        "seed {seed}: nobody raced: the lease was taken {} times",
        end.epoch
    );
    let count = u64::try_from(subject.counter("pages").await?)?;
    claim!(
        count == end.version,
        "seed {seed}: {} pages were committed, and {count} effects are there",
        end.version
    );
    let expected: Vec<_> = (0..end.version)
        .map(|page| format!("page {page}"))
        .collect();
    same!(keys(&*subject).await?, expected);
    Ok(())
}

async fn racing_owners_count_exactly(subject: Shared) -> Outcome {
    race(subject, 1, PAGES, false).await
}

async fn racing_owners_that_die_anywhere_count_exactly(subject: Shared) -> Outcome {
    race(subject, 100, PAGES, true).await
}
