//! Effects and checkpoint: both or neither (I2), and only for the owner (I3).

use std::sync::Arc;

use futures_util::future::try_join_all;
use projectionist::verdict::BoxError;

use super::material::{advance, checkpoint, keys, letter, polled, second, standing, take, taken};
use super::{Outcome, Shared, Subject, claim, same};
use crate::store::{Advance, Checkpoint, CommitError};

super::cases![
    a_commit_moves_everything_together,
    a_page_without_effects_moves_the_checkpoint,
    commits_follow_one_another,
    a_wrong_version_is_fenced,
    an_older_owner_is_fenced,
    an_epoch_that_was_never_taken_is_fenced,
    an_unknown_lease_is_fenced,
    a_commit_leaves_other_leases_alone,
    a_rollback_leaves_nothing,
    a_dropped_transaction_leaves_nothing,
    a_page_dropped_at_any_wait_happened_whole_or_not_at_all,
    effects_show_when_they_are_committed,
    transactions_of_one_counter_lose_nothing,
];

/// One page: an effect, a letter, and the checkpoint.
async fn page(subject: &dyn Subject, checkpoint: &Checkpoint) -> Result<(), BoxError> {
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 1).await?;
    effects
        .put(&[letter(checkpoint, &format!("page {}", checkpoint.version))])
        .await?;
    effects.commit(&advance(checkpoint)).await?;
    Ok(())
}

/// Nothing of a page happened: neither effect nor letter nor checkpoint.
async fn nothing_happened(subject: &dyn Subject, before: &Checkpoint) -> Outcome {
    same!(subject.counter("pages").await?, 0);
    same!(keys(subject).await?, [""; 0]);
    same!(standing(subject, before).await?, *before);
    Ok(())
}

/// A page that ends with `advance` is fenced, and the living owner's next page is not.
async fn fenced(subject: &dyn Subject, owned: &Checkpoint, wrong: Advance) -> Outcome {
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 1).await?;
    effects.put(&[letter(owned, "lost")]).await?;
    match effects.commit(&wrong).await {
        Err(CommitError::Fenced(lease)) => same!(lease, wrong.lease),
        other => return Err(format!("the commit should be fenced, and is {other:?}").into()),
    }
    nothing_happened(subject, owned).await?;
    page(subject, owned).await?;
    same!(subject.counter("pages").await?, 1);
    Ok(())
}

async fn a_commit_moves_everything_together(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    page(&*subject, &owned).await?;
    let step = advance(&owned);
    let expected = Checkpoint {
        version: 1,
        position: Some(step.position),
        changed_at: step.at,
        ..owned.clone()
    };
    same!(standing(&*subject, &owned).await?, expected);
    same!(subject.counter("pages").await?, 1);
    same!(keys(&*subject).await?, ["page 0"]);
    Ok(())
}

async fn a_page_without_effects_moves_the_checkpoint(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    subject
        .store()
        .begin()
        .await?
        .commit(&advance(&owned))
        .await?;
    same!(standing(&*subject, &owned).await?.version, 1);
    Ok(())
}

async fn commits_follow_one_another(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    for version in 0..20 {
        same!(owned.version, version);
        page(&*subject, &owned).await?;
        owned = standing(&*subject, &owned).await?;
    }
    same!(subject.counter("pages").await?, 20);
    same!(owned.epoch, 1);
    Ok(())
}

async fn a_wrong_version_is_fenced(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let mut wrong = advance(&owned);
    wrong.version += 1;
    fenced(&*subject, &owned, wrong).await
}

async fn an_older_owner_is_fenced(subject: Shared) -> Outcome {
    let frozen = taken(&*subject, "one").await?;
    let owned = take(&*subject, &frozen).await?;
    fenced(&*subject, &owned, advance(&frozen)).await
}

async fn an_epoch_that_was_never_taken_is_fenced(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let mut wrong = advance(&owned);
    wrong.epoch += 1;
    fenced(&*subject, &owned, wrong).await
}

async fn an_unknown_lease_is_fenced(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let unknown = checkpoint("unknown");
    let wrong = Advance {
        lease: unknown.projection.lease(&unknown.bounds),
        ..advance(&owned)
    };
    fenced(&*subject, &owned, wrong).await
}

async fn a_commit_leaves_other_leases_alone(subject: Shared) -> Outcome {
    let other = taken(&*subject, "two").await?;
    let owned = taken(&*subject, "one").await?;
    page(&*subject, &owned).await?;
    same!(standing(&*subject, &other).await?, other);
    Ok(())
}

async fn a_rollback_leaves_nothing(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 1).await?;
    effects.put(&[letter(&owned, "lost")]).await?;
    effects.rollback().await;
    nothing_happened(&*subject, &owned).await?;
    page(&*subject, &owned).await
}

async fn a_dropped_transaction_leaves_nothing(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    for _ in 0..3 {
        let mut effects = subject.store().begin().await?;
        subject.add(&mut *effects, "pages", 1).await?;
        effects.put(&[letter(&owned, "lost")]).await?;
        drop(effects);
        // The next one begins on clean ground, whatever the one before is still doing.
        let mut effects = subject.store().begin().await?;
        subject.add(&mut *effects, "other", 1).await?;
        effects.rollback().await;
    }
    nothing_happened(&*subject, &owned).await?;
    page(&*subject, &owned).await
}

async fn a_page_dropped_at_any_wait_happened_whole_or_not_at_all(subject: Shared) -> Outcome {
    const ENOUGH: usize = 500;
    let mut owned = taken(&*subject, "one").await?;
    for polls in 1..ENOUGH {
        let done = polled(page(&*subject, &owned), polls).await.transpose()?;
        // Taken anew, as an owner would that does not know: from here on the dropped page cannot come to life.
        let next = take(&*subject, &owned).await?;
        same!(next.epoch, owned.epoch + 1);
        claim!(
            next.version == owned.version + 1 || (next.version == owned.version && done.is_none()),
            "after {polls} polls version {} became {}, and the page ended as {done:?}",
            owned.version,
            next.version
        );
        owned = next;
        let count = subject.counter("pages").await?;
        same!(u64::try_from(count)?, owned.version);
        same!(keys(&*subject).await?.len() as u64, owned.version);
        if done.is_some() {
            return Ok(());
        }
    }
    Err(format!("no page was done within {ENOUGH} polls").into())
}

async fn effects_show_when_they_are_committed(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 2).await?;
    // A transaction sees its own effects: the counter adds to them.
    subject.add(&mut *effects, "pages", 3).await?;
    effects.put(&[letter(&owned, "letter")]).await?;
    nothing_happened(&*subject, &owned).await?;
    effects.commit(&advance(&owned)).await?;
    same!(subject.counter("pages").await?, 5);
    same!(keys(&*subject).await?, ["letter"]);
    Ok(())
}

async fn transactions_of_one_counter_lose_nothing(subject: Shared) -> Outcome {
    let tasks = (0..8).map(|number| {
        let subject = Arc::clone(&subject);
        tokio::spawn(async move {
            let mut owned = taken(&*subject, &format!("projection {number}")).await?;
            for _ in 0..10 {
                let mut effects = subject.store().begin().await?;
                subject.add(&mut *effects, "all", 1).await?;
                let mut step = advance(&owned);
                step.at = second(number);
                effects.commit(&step).await?;
                owned.version += 1;
            }
            Ok::<_, BoxError>(())
        })
    });
    for ended in try_join_all(tasks).await? {
        ended?;
    }
    same!(subject.counter("all").await?, 80);
    Ok(())
}
