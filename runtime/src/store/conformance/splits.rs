//! Leases that are split: one transaction, by the owner alone, nothing lost and nothing twice (P13, P19).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::try_join_all;
use projectionist::verdict::BoxError;

use super::material::{
    advance, bounds, checkpoint, keys, letter, polled, projection, second, standing, take, taken,
};
use super::{Outcome, Shared, Subject, claim, same};
use crate::position::{Bounds, Position};
use crate::store::{Checkpoint, CommitError, NewCheckpoint, Split, SplitError, StoreError};

super::cases![
    children_have_all_of_their_parent_but_its_bounds,
    children_of_a_start_that_read_nothing_begin_as_it_would_have,
    a_split_concerns_one_lease,
    a_child_is_split_again,
    a_fenced_owner_cannot_split,
    a_page_committed_since_forbids_the_split,
    a_parent_cannot_commit_or_be_taken_any_more,
    a_page_open_during_the_split_is_not_committed,
    parts_that_do_not_make_up_the_range_are_refused,
    of_many_splitters_at_once_one_wins,
    a_split_that_is_cut_off_is_whole_or_nothing,
    a_parent_is_not_made_anew_beside_its_children,
    pages_and_splits_that_race_count_exactly,
];

/// A split of a whole range at 40 and 80.
fn halves(owned: &Checkpoint) -> Split {
    split(owned, [("", "40"), ("40", "80"), ("80", "FF")])
}

fn split<const N: usize>(owned: &Checkpoint, children: [(&str, &str); N]) -> Split {
    Split {
        lease: owned.lease.clone(),
        epoch: owned.epoch,
        version: owned.version,
        children: children.map(|(min, max)| bounds(min, max)).into(),
        at: second(7),
    }
}

/// What the children of a split are to be.
fn children(owned: &Checkpoint, split: &Split) -> Vec<Checkpoint> {
    let child = |bounds: &Bounds| Checkpoint {
        lease: owned.projection.lease(bounds),
        bounds: bounds.clone(),
        changed_at: split.at,
        ..owned.clone()
    };
    split.children.iter().map(child).collect()
}

async fn committed(subject: &dyn Subject, owned: &Checkpoint) -> Result<Checkpoint, BoxError> {
    let effects = subject.store().begin().await?;
    effects.commit(&advance(owned)).await?;
    standing(subject, owned).await
}

async fn all(subject: &dyn Subject) -> Result<Vec<Checkpoint>, BoxError> {
    Ok(subject.store().checkpoints().await?)
}

async fn children_have_all_of_their_parent_but_its_bounds(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let owned = committed(&*subject, &owned).await?;
    claim!(owned.position.is_some(), "a page was committed");
    let split = halves(&owned);
    let expected = children(&owned, &split);
    same!(subject.store().split(&split).await?, expected);
    same!(all(&*subject).await?, expected);
    // They are leases as any other: taken, and committed to.
    for child in &expected {
        let child = take(&*subject, child).await?;
        claim!(child.epoch > owned.epoch, "a taking raises the epoch");
        let after = committed(&*subject, &child).await?;
        same!(after.version, owned.version + 1);
    }
    Ok(())
}

async fn children_of_a_start_that_read_nothing_begin_as_it_would_have(subject: Shared) -> Outcome {
    for (name, start, position) in [
        ("one", "beginning", None),
        ("two", "2027-01-01T00:00:00Z", None),
        ("three", "now", Some(Position::new("pinned"))),
    ] {
        let new = NewCheckpoint {
            start: start.to_owned(),
            position: position.clone(),
            ..checkpoint(name)
        };
        let made = subject.store().create(&new).await?;
        for child in subject.store().split(&halves(&made)).await? {
            same!(child.start, start);
            same!(child.position, position);
            same!(standing(&*subject, &child).await?, child);
        }
    }
    Ok(())
}

async fn a_split_concerns_one_lease(subject: Shared) -> Outcome {
    let other = subject.store().create(&checkpoint("two")).await?;
    let right = NewCheckpoint {
        bounds: bounds("80", "FF"),
        ..checkpoint("one")
    };
    let right = subject.store().create(&right).await?;
    let left = NewCheckpoint {
        bounds: bounds("", "80"),
        ..checkpoint("one")
    };
    let left = subject.store().create(&left).await?;
    let split = split(&left, [("", "40"), ("40", "80")]);
    subject.store().split(&split).await?;
    let mut expected = children(&left, &split);
    expected.extend([right, other]);
    same!(all(&*subject).await?, expected);
    Ok(())
}

async fn a_child_is_split_again(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let first = subject.store().split(&halves(&owned)).await?;
    let again = split(&first[1], [("40", "48"), ("48", "80")]);
    let second = subject.store().split(&again).await?;
    same!(second, children(&first[1], &again));
    let expected = [&first[0], &second[0], &second[1], &first[2]].map(Clone::clone);
    same!(all(&*subject).await?, expected);
    Ok(())
}

fn is_fenced(outcome: &Result<Vec<Checkpoint>, SplitError>) -> bool {
    matches!(outcome, Err(SplitError::Fenced(_)))
}

/// I3: who was frozen and thaws does not split what another owns.
async fn a_fenced_owner_cannot_split(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let thief = take(&*subject, &owned).await?;
    let outcome = subject.store().split(&halves(&owned)).await;
    claim!(is_fenced(&outcome), "it was not fenced: {outcome:?}");
    same!(*all(&*subject).await?, *std::slice::from_ref(&thief));
    subject.store().split(&halves(&thief)).await?;
    // The lease that it knew is gone: no difference to it.
    let outcome = subject.store().split(&halves(&owned)).await;
    claim!(is_fenced(&outcome), "it was not fenced: {outcome:?}");
    same!(all(&*subject).await?.len(), 3);
    Ok(())
}

/// I1: the children go on from where the parent stands, not from where it stood.
async fn a_page_committed_since_forbids_the_split(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let after = committed(&*subject, &owned).await?;
    let outcome = subject.store().split(&halves(&owned)).await;
    claim!(is_fenced(&outcome), "it was not fenced: {outcome:?}");
    same!(all(&*subject).await?, [after]);
    Ok(())
}

async fn a_parent_cannot_commit_or_be_taken_any_more(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    subject.store().split(&halves(&owned)).await?;
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 1).await?;
    effects.put(&[letter(&owned, "a")]).await?;
    let outcome = effects.commit(&advance(&owned)).await;
    claim!(
        matches!(outcome, Err(CommitError::Fenced(_))),
        "it was not fenced: {outcome:?}"
    );
    same!(subject.counter("pages").await?, 0);
    same!(keys(&*subject).await?.len(), 0);
    same!(subject.store().take(&owned.lease, second(9)).await?, None);
    same!(all(&*subject).await?.len(), 3);
    Ok(())
}

/// Whichever comes first, the page or the split: the other of the two does not happen.
async fn a_page_open_during_the_split_is_not_committed(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let mut effects = subject.store().begin().await?;
    subject.add(&mut *effects, "pages", 1).await?;
    let splitter = {
        let (subject, split) = (Arc::clone(&subject), halves(&owned));
        tokio::spawn(async move { subject.store().split(&split).await })
    };
    tokio::task::yield_now().await;
    let page = effects.commit(&advance(&owned)).await;
    let split = splitter.await?;
    let count = subject.counter("pages").await?;
    match (&page, &split) {
        (Ok(()), Err(SplitError::Fenced(_))) => {
            same!(count, 1);
            same!(all(&*subject).await?.len(), 1);
        }
        (Err(CommitError::Fenced(_)), Ok(_)) => {
            same!(count, 0);
            same!(all(&*subject).await?.len(), 3);
        }
        _ => return Err(format!("page {page:?}, split {split:?}").into()),
    }
    Ok(())
}

/// I5: no part of the key space is lost, and none is read twice.
async fn parts_that_do_not_make_up_the_range_are_refused(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    for parts in [
        vec![],
        vec![("", "FF")],
        vec![("", "40"), ("40", "80")],
        vec![("20", "40"), ("40", "FF")],
        vec![("", "40"), ("60", "FF")],
        vec![("", "60"), ("40", "FF")],
        vec![("40", "FF"), ("", "40")],
        vec![("", "FF"), ("FF", "FF")],
    ] {
        let mut split = halves(&owned);
        split.children = parts.iter().map(|(min, max)| bounds(min, max)).collect();
        let outcome = subject.store().split(&split).await;
        claim!(
            matches!(outcome, Err(SplitError::Untiled { .. })),
            "{parts:?} was not refused: {outcome:?}"
        );
    }
    same!(*all(&*subject).await?, *std::slice::from_ref(&owned));
    committed(&*subject, &owned).await?;
    Ok(())
}

async fn of_many_splitters_at_once_one_wins(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let tasks = (1..=8_u8).map(|number| {
        let subject = Arc::clone(&subject);
        let middle = format!("{number:02X}");
        let split = split(&owned, [("", &middle), (&middle, "FF")]);
        tokio::spawn(async move { subject.store().split(&split).await })
    });
    let mut won = Vec::new();
    for outcome in try_join_all(tasks).await? {
        match outcome {
            Ok(children) => won.push(children),
            Err(SplitError::Fenced(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    claim!(won.len() == 1, "{} splitters won", won.len());
    same!(all(&*subject).await?, won[0]);
    Ok(())
}

async fn a_split_that_is_cut_off_is_whole_or_nothing(subject: Shared) -> Outcome {
    const MOST: usize = 60;
    let (mut cut, mut done) = (0, 0);
    for polls in 1..MOST {
        let owned = taken(&*subject, &format!("p{polls}")).await?;
        let split = halves(&owned);
        if let Some(outcome) = polled(subject.store().split(&split), polls).await {
            outcome?;
            done += 1;
        } else {
            cut += 1;
        }
        // A write waits for what is still under way.
        taken(&*subject, &format!("q{polls}")).await?;
        let mut rows = all(&*subject).await?;
        rows.retain(|row| row.projection == owned.projection);
        claim!(
            rows == [owned.clone()] || rows == children(&owned, &split),
            "after {polls} polls: {rows:?}"
        );
    }
    claim!(done > 0, "none of {cut} splits was ever done");
    Ok(())
}

/// I5: who still has the list of ranges of before finds the children.
async fn a_parent_is_not_made_anew_beside_its_children(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    let split = halves(&owned);
    subject.store().split(&split).await?;
    for (min, max) in [("", "FF"), ("", "20"), ("70", "90"), ("80", "F0")] {
        let new = NewCheckpoint {
            bounds: bounds(min, max),
            ..checkpoint("one")
        };
        let outcome = subject.store().create(&new).await;
        claim!(
            matches!(outcome, Err(StoreError::Overlap { .. })),
            "{min}-{max} was made: {outcome:?}"
        );
    }
    same!(all(&*subject).await?, children(&owned, &split));
    Ok(())
}

/// Owners that commit, steal and split, all at once: each committed page has its effect once, and the leases of the end
/// make up the key space.
async fn pages_and_splits_that_race_count_exactly(subject: Shared) -> Outcome {
    const OWNERS: u64 = 4;
    const TURNS: usize = 200;
    /// Owners that steal from each other all the time may take this long to have split and committed once.
    const PATIENCE: usize = 100 * TURNS;
    taken(&*subject, "one").await?;
    let committed = Arc::new(AtomicBool::new(false));
    let owners = (0..OWNERS).map(|owner| {
        let subject = Arc::clone(&subject);
        let committed = Arc::clone(&committed);
        tokio::spawn(async move {
            let mut random = fastrand::Rng::with_seed(owner);
            let mut pages = 0_i64;
            for turn in 0..PATIENCE {
                let rows = all(&*subject).await?;
                if turn >= TURNS && rows.len() > 1 && committed.load(Ordering::Relaxed) {
                    break;
                }
                // Who takes at every turn is robbed at every turn by those that wait in line behind it.
                if random.u8(..4) > 0 {
                    continue;
                }
                let row = &rows[random.usize(..rows.len())];
                let Some(owned) = subject.store().take(&row.lease, second(1)).await? else {
                    continue;
                };
                tokio::task::yield_now().await;
                if random.u8(..) < 32 {
                    let middle = format!("{}7", owned.bounds.min);
                    if middle >= owned.bounds.max {
                        continue;
                    }
                    let (min, max) = (&*owned.bounds.min, &*owned.bounds.max);
                    let split = split(&owned, [(min, &middle), (&middle, max)]);
                    match subject.store().split(&split).await {
                        Ok(_) | Err(SplitError::Fenced(_)) => {}
                        Err(error) => return Err::<_, BoxError>(error.into()),
                    }
                    continue;
                }
                let mut effects = subject.store().begin().await?;
                subject.add(&mut *effects, "pages", 1).await?;
                match effects.commit(&advance(&owned)).await {
                    Ok(()) => {
                        pages += 1;
                        committed.store(true, Ordering::Relaxed);
                    }
                    Err(CommitError::Fenced(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(pages)
        })
    });
    let mut pages = 0;
    for ended in try_join_all(owners).await? {
        pages += ended?;
    }
    claim!(pages > 0, "nobody ever committed");
    same!(subject.counter("pages").await?, pages);
    let mut rows = all(&*subject).await?;
    rows.retain(|row| row.projection == projection("one"));
    claim!(rows.len() > 1, "nobody ever split");
    let leases: Vec<_> = rows.iter().map(|row| row.bounds.clone()).collect();
    claim!(
        Bounds::whole().is_tiled_by(&leases),
        "the leases are {leases:?}"
    );
    Ok(())
}
