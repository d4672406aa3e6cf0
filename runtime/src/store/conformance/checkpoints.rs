//! Making, taking and listing checkpoints.

use std::sync::Arc;

use futures_util::future::try_join_all;
use projectionist::needs::Mode;

use super::material::{advance, bounds, checkpoint, projection, second, standing, taken};
use super::{Outcome, Shared, claim, same};
use crate::position::{Position, ProjectionId};
use crate::store::{Checkpoint, NewCheckpoint};

super::cases![
    a_new_checkpoint_has_all_it_was_made_with,
    a_checkpoint_is_made_once,
    a_checkpoint_wins_over_a_new_start,
    made_by_many_at_once_it_is_one,
    checkpoints_differ_by_each_part_of_their_names,
    checkpoints_are_sorted,
    nothing_cannot_be_taken,
    a_taking_raises_the_epoch_alone,
    takers_at_once_get_epochs_of_their_own,
    a_position_is_any_text,
    a_name_is_any_text,
];

async fn a_new_checkpoint_has_all_it_was_made_with(subject: Shared) -> Outcome {
    let new = NewCheckpoint {
        mode: Mode::AllVersionsAndDeletes,
        start: "now".to_owned(),
        position: Some(Position::new("pinned")),
        ..checkpoint("one")
    };
    let made = subject.store().create(&new).await?;
    let expected = Checkpoint {
        lease: new.projection.lease(&new.bounds),
        projection: new.projection,
        rid: new.rid,
        bounds: new.bounds,
        mode: new.mode,
        epoch: 0,
        version: 0,
        start: new.start,
        position: new.position,
        changed_at: new.at,
    };
    same!(made, expected);
    same!(subject.store().checkpoints().await?, [expected]);
    Ok(())
}

async fn a_checkpoint_is_made_once(subject: Shared) -> Outcome {
    let first = subject.store().create(&checkpoint("one")).await?;
    let second = subject.store().create(&checkpoint("one")).await?;
    same!(second, first);
    same!(subject.store().checkpoints().await?.len(), 1);
    Ok(())
}

async fn a_checkpoint_wins_over_a_new_start(subject: Shared) -> Outcome {
    let owned = taken(&*subject, "one").await?;
    subject
        .store()
        .begin()
        .await?
        .commit(&advance(&owned))
        .await?;
    let before = standing(&*subject, &owned).await?;
    let other = NewCheckpoint {
        rid: "rid-2".to_owned(),
        mode: Mode::AllVersionsAndDeletes,
        start: "now".to_owned(),
        position: Some(Position::new("pinned anew")),
        at: second(9),
        ..checkpoint("one")
    };
    same!(subject.store().create(&other).await?, before);
    same!(standing(&*subject, &owned).await?, before);
    Ok(())
}

async fn made_by_many_at_once_it_is_one(subject: Shared) -> Outcome {
    let tasks = (0..8).map(|number| {
        let subject = Arc::clone(&subject);
        tokio::spawn(async move {
            let new = NewCheckpoint {
                start: format!("start {number}"),
                ..checkpoint("one")
            };
            subject.store().create(&new).await
        })
    });
    let mut made = Vec::new();
    for row in try_join_all(tasks).await? {
        made.push(row?);
    }
    claim!(
        made.iter().all(|row| *row == made[0]),
        "not all see one row: {made:?}"
    );
    same!(subject.store().checkpoints().await?.len(), 1);
    Ok(())
}

async fn checkpoints_differ_by_each_part_of_their_names(subject: Shared) -> Outcome {
    let base = projection("one");
    let projections = [
        base.clone(),
        ProjectionId {
            tenant: "t".to_owned(),
            ..base.clone()
        },
        ProjectionId {
            collection: "other".to_owned(),
            ..base.clone()
        },
        ProjectionId {
            name: "two".to_owned(),
            ..base.clone()
        },
        ProjectionId {
            generation: 2,
            ..base
        },
    ];
    for projection in &projections {
        for (min, max) in [("", "80"), ("80", "FF")] {
            let new = NewCheckpoint {
                projection: projection.clone(),
                bounds: bounds(min, max),
                ..checkpoint("one")
            };
            let made = subject.store().create(&new).await?;
            same!(made.projection, *projection);
            same!(made.bounds, new.bounds);
        }
    }
    same!(subject.store().checkpoints().await?.len(), 10);
    Ok(())
}

async fn checkpoints_are_sorted(subject: Shared) -> Outcome {
    let wanted = [
        ("a", "", "55"),
        ("a", "55", "AA"),
        ("a", "AA", "FF"),
        ("b", "", "FF"),
    ];
    for index in [2, 0, 3, 1] {
        let (name, min, max) = wanted[index];
        let new = NewCheckpoint {
            bounds: bounds(min, max),
            ..checkpoint(name)
        };
        subject.store().create(&new).await?;
    }
    let listed = subject.store().checkpoints().await?;
    let listed: Vec<_> = listed
        .iter()
        .map(|row| (&*row.projection.name, &*row.bounds.min, &*row.bounds.max))
        .collect();
    same!(listed, wanted);
    Ok(())
}

async fn nothing_cannot_be_taken(subject: Shared) -> Outcome {
    let lease = projection("one").lease(&bounds("", "FF"));
    same!(subject.store().take(&lease, second(1)).await?, None);
    same!(subject.store().checkpoints().await?.len(), 0);
    Ok(())
}

async fn a_taking_raises_the_epoch_alone(subject: Shared) -> Outcome {
    let made = subject.store().create(&checkpoint("one")).await?;
    let other = subject.store().create(&checkpoint("two")).await?;
    for epoch in 1..4 {
        let taken = subject.store().take(&made.lease, second(5)).await?;
        let expected = Checkpoint {
            epoch,
            changed_at: second(5),
            ..made.clone()
        };
        same!(taken, Some(expected.clone()));
        same!(standing(&*subject, &made).await?, expected);
    }
    same!(standing(&*subject, &other).await?, other);
    Ok(())
}

async fn takers_at_once_get_epochs_of_their_own(subject: Shared) -> Outcome {
    let made = subject.store().create(&checkpoint("one")).await?;
    let tasks = (0..8).map(|_| {
        let subject = Arc::clone(&subject);
        let lease = made.lease.clone();
        tokio::spawn(async move { subject.store().take(&lease, second(1)).await })
    });
    let mut epochs = Vec::new();
    for taken in try_join_all(tasks).await? {
        epochs.extend(taken?.map(|row| row.epoch));
    }
    epochs.sort_unstable();
    same!(epochs, (1..=8).collect::<Vec<_>>());
    Ok(())
}

async fn a_position_is_any_text(subject: Shared) -> Outcome {
    let positions = [
        String::new(),
        "'; drop table projectionist_checkpoints; --".to_owned(),
        "\"quoted\" \\ $1 ?1 :name @x %s".to_owned(),
        "\u{1}\t\r\n\u{7f} \u{202e}ß 中 😀\u{301}".to_owned(),
        "continuation;".repeat(10_000),
    ];
    let mut owned = taken(&*subject, "one").await?;
    for position in positions {
        let mut advance = advance(&owned);
        advance.position = Position::new(position);
        subject.store().begin().await?.commit(&advance).await?;
        owned = standing(&*subject, &owned).await?;
        same!(owned.position, Some(advance.position));
    }
    Ok(())
}

async fn a_name_is_any_text(subject: Shared) -> Outcome {
    let projection = ProjectionId {
        tenant: "ténant 'one'".to_owned(),
        collection: "konto/データ/\"c\"".to_owned(),
        name: "ünï-😀;--".to_owned(),
        generation: u32::MAX,
    };
    let new = NewCheckpoint {
        projection: projection.clone(),
        rid: "rid=/+'\"".to_owned(),
        ..checkpoint("one")
    };
    let made = subject.store().create(&new).await?;
    same!(made.projection, projection);
    same!(made.rid, new.rid);
    same!(
        subject
            .store()
            .take(&made.lease, second(0))
            .await?
            .map(|row| row.projection),
        Some(projection)
    );
    Ok(())
}
