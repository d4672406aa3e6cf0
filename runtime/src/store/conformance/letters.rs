//! Letters: each change's once, whole, in order (I1, P23).

use bytes::Bytes;
use projectionist::change::Operation;
use projectionist::verdict::BoxError;

use super::material::{advance, keys, letter, second, standing, taken};
use super::{Outcome, Shared, Subject, claim, same};
use crate::letters::{Letter, LetterFilter, LetterStatus, NewLetter};
use crate::position::ProjectionId;
use crate::store::Checkpoint;

super::cases![
    a_letter_comes_back_as_it_was_put,
    a_letter_of_little_comes_back,
    a_change_has_one_letter,
    letters_of_different_projections_are_apart,
    letters_come_oldest_first_and_in_pages,
    letters_are_found_by_projection_and_document,
    a_letter_is_found_by_its_number,
    a_large_body_comes_back,
];

/// Commits a page of letters.
async fn put(
    subject: &dyn Subject,
    owned: &mut Checkpoint,
    letters: &[NewLetter],
) -> Result<(), BoxError> {
    let mut effects = subject.store().begin().await?;
    effects.put(letters).await?;
    effects.commit(&advance(owned)).await?;
    *owned = standing(subject, owned).await?;
    Ok(())
}

async fn all(subject: &dyn Subject) -> Result<Vec<Letter>, BoxError> {
    Ok(subject.store().letters(&LetterFilter::default()).await?)
}

/// The letter that was put, field by field: the type has no equality of its own.
fn matches(found: &Letter, put: &NewLetter) -> Outcome {
    same!(found.status, LetterStatus::Dead);
    same!(found.last_failed_at, put.failed_at);
    same!(format!("{:?}", found.content), format!("{put:?}"));
    same!(found.content.body, put.body);
    Ok(())
}

async fn a_letter_comes_back_as_it_was_put(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    for operation in [
        Operation::Upsert,
        Operation::Create,
        Operation::Replace,
        Operation::Delete,
    ] {
        let new = NewLetter {
            operation,
            document_id: "naïve/😀 ' \" \\ \u{301}".to_owned(),
            partition_key: r#"["中",null,1.5,true,{}]"#.to_owned(),
            sequence: Some(i64::MAX.unsigned_abs()),
            attempts: u32::MAX,
            errors: vec![
                "a \"quoted\"\nline".to_owned(),
                String::new(),
                "ß".to_owned(),
            ],
            written_at: second(-1_000_000_000),
            // Not even text, and so the reason why it is here.
            body: Some(Bytes::from_static(b"{\0\xff\xfe\"broken")),
            ..letter(&owned, operation.as_str())
        };
        put(&*subject, &mut owned, std::slice::from_ref(&new)).await?;
        let found = all(&*subject).await?;
        matches(found.last().ok_or("there is no letter")?, &new)?;
    }
    Ok(())
}

async fn a_letter_of_little_comes_back(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    let new = NewLetter {
        sequence: None,
        etag: None,
        hook: String::new(),
        errors: Vec::new(),
        attempts: 0,
        body: None,
        ..letter(&owned, "little")
    };
    let empty = NewLetter {
        body: Some(Bytes::new()),
        ..letter(&owned, "empty")
    };
    put(&*subject, &mut owned, &[new.clone(), empty.clone()]).await?;
    let found = all(&*subject).await?;
    same!(found.len(), 2);
    matches(&found[0], &new)?;
    matches(&found[1], &empty)
}

async fn a_change_has_one_letter(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    let first = letter(&owned, "change");
    let again = NewLetter {
        errors: vec!["another error".to_owned()],
        ..first.clone()
    };
    put(&*subject, &mut owned, &[first.clone(), again.clone()]).await?;
    put(&*subject, &mut owned, &[again]).await?;
    same!(owned.version, 2);
    let found = all(&*subject).await?;
    same!(found.len(), 1);
    matches(&found[0], &first)
}

async fn letters_of_different_projections_are_apart(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    let base = letter(&owned, "change");
    let of = |projection| NewLetter {
        projection,
        ..base.clone()
    };
    let letters = [
        base.clone(),
        of(ProjectionId {
            name: "two".to_owned(),
            ..base.projection.clone()
        }),
        of(ProjectionId {
            generation: 2,
            ..base.projection.clone()
        }),
        of(ProjectionId {
            tenant: "t".to_owned(),
            ..base.projection.clone()
        }),
        of(ProjectionId {
            collection: "other".to_owned(),
            ..base.projection.clone()
        }),
    ];
    put(&*subject, &mut owned, &letters).await?;
    let found = all(&*subject).await?;
    same!(found.len(), letters.len());
    for (found, put) in found.iter().zip(&letters) {
        matches(found, put)?;
    }
    Ok(())
}

async fn letters_come_oldest_first_and_in_pages(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    let wanted: Vec<_> = (0..25)
        .map(|number| format!("{:02}", 99 - number))
        .collect();
    for some in wanted.chunks(4) {
        let letters: Vec<_> = some.iter().map(|key| letter(&owned, key)).collect();
        put(&*subject, &mut owned, &letters).await?;
    }
    same!(keys(&*subject).await?, wanted);
    let mut listed = Vec::new();
    let mut filter = LetterFilter {
        limit: 10,
        ..LetterFilter::default()
    };
    loop {
        let page = subject.store().letters(&filter).await?;
        claim!(page.len() <= 10, "a page of {} letters", page.len());
        let Some(last) = page.last() else { break };
        claim!(
            last.id > filter.after,
            "letter {} comes after {}",
            last.id,
            filter.after
        );
        filter.after = last.id;
        listed.extend(page.into_iter().map(|letter| letter.content.key));
    }
    same!(listed, wanted);
    Ok(())
}

async fn letters_are_found_by_projection_and_document(subject: Shared) -> Outcome {
    let mut one = taken(&*subject, "one").await?;
    let mut two = taken(&*subject, "two").await?;
    let letters = [letter(&one, "a"), letter(&one, "b")];
    put(&*subject, &mut one, &letters).await?;
    let letters = [letter(&two, "a")];
    put(&*subject, &mut two, &letters).await?;
    for (projection, document, expected) in [
        (None, None, &["a", "b", "a"][..]),
        (Some("one"), None, &["a", "b"]),
        (Some("two"), None, &["a"]),
        (None, Some("document of a"), &["a", "a"]),
        (Some("one"), Some("document of b"), &["b"]),
        (Some("two"), Some("document of b"), &[]),
        (Some("o%"), None, &[]),
    ] {
        let filter = LetterFilter {
            projection: projection.map(str::to_owned),
            document_id: document.map(str::to_owned),
            ..LetterFilter::default()
        };
        let found = subject.store().letters(&filter).await?;
        let found: Vec<_> = found.iter().map(|letter| &*letter.content.key).collect();
        claim!(
            found == expected,
            "{projection:?} and {document:?} find {found:?} and should find {expected:?}"
        );
    }
    Ok(())
}

async fn a_letter_is_found_by_its_number(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    let letters = [letter(&owned, "a"), letter(&owned, "b")];
    put(&*subject, &mut owned, &letters).await?;
    for listed in all(&*subject).await? {
        let found = subject.store().letter(listed.id).await?;
        let found = found.ok_or("a listed letter is not found")?;
        same!(found.id, listed.id);
        matches(&found, &listed.content)?;
    }
    claim!(
        subject.store().letter(i64::MAX).await?.is_none(),
        "there is a letter that was never put"
    );
    Ok(())
}

async fn a_large_body_comes_back(subject: Shared) -> Outcome {
    let mut owned = taken(&*subject, "one").await?;
    // Cosmos DB's greatest document.
    let body: Vec<u8> = (0..2 * 1024 * 1024_u32)
        .map(|index| index.to_le_bytes()[0] ^ index.to_le_bytes()[1])
        .collect();
    let new = NewLetter {
        body: Some(body.into()),
        ..letter(&owned, "large")
    };
    put(&*subject, &mut owned, std::slice::from_ref(&new)).await?;
    let found = all(&*subject).await?;
    claim!(
        found.len() == 1 && found[0].content.body == new.body,
        "the body is another one"
    );
    Ok(())
}
