//! Declares projections as a user would, and runs pages through them.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, clippy::pedantic)]

mod attributes;
mod rows;
mod support;
mod transaction;

use projectionist::prelude::*;
use projectionist::{Kind, Mode, Projection};
use serde::Deserialize;
use support::Log;

#[derive(Debug, Deserialize)]
struct User {
    id: String,
}

#[projection(collection = "users", name = "stacked")]
struct Stacked;

impl Stacked {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn log(
        &self,
        op: Operation,
        before: Option<Previous<User>>,
        now: Option<Change<User>>,
        id: DocumentId,
        log: State<Log>,
        at: Ctx<'_>,
    ) {
        let before = before
            .and_then(|Previous(before)| before)
            .map(|user| user.id);
        let now = now.map(|Change(user)| user.id);
        log.add(format!("{op} {id} {before:?} {now:?} {}", at.range_id()));
    }
}

#[projection(
    collection = "users",
    name = "soft",
    soft_delete(deletedAt),
    only(type = "user"),
    init = Soft::new
)]
struct Soft {
    prefix: String,
}

impl Soft {
    #[expect(clippy::unnecessary_wraps, reason = "either is allowed")]
    fn new(_: &States) -> Result<Self, String> {
        Ok(Self {
            prefix: "soft".to_owned(),
        })
    }

    #[on_upsert(only(plan in ("pro", "free")))]
    async fn put(&self, user: Change<User>, log: State<Log>) -> Result<(), BoxError> {
        log.add(format!("{} put {}", self.prefix, user.id));
        Ok(())
    }

    #[on_delete]
    async fn gone(user: Deleted<User>, log: State<Log>, ctx: Ctx<'_>) -> Verdict {
        let id = user.as_ref().map(|user| user.id.as_str());
        log.add(format!("gone {id:?} {:?}", ctx.delete_kind()));
        Verdict::Done
    }
}

#[test]
fn modes_follow_from_hooks() {
    const { assert!(matches!(Stacked::MODE, Mode::AllVersionsAndDeletes)) };
    const { assert!(matches!(Soft::MODE, Mode::LatestVersion)) };
    let kinds: Vec<_> = Stacked::HOOKS
        .iter()
        .map(|(kind, hook)| (kind, hook.name))
        .collect();
    assert_eq!(
        kinds,
        [
            (Kind::Create, "log"),
            (Kind::Replace, "log"),
            (Kind::Delete, "log")
        ]
    );
}

#[tokio::test]
async fn stacked_hooks_run_for_each_kind() {
    let outcome = support::run::<Stacked>(&[
        support::create("ada", r#"{"id":"ada"}"#),
        support::replace("ada", r#"{"id":"ada2"}"#, r#"{"id":"ada"}"#),
        support::delete("ada"),
        support::create("bad", r#"{"id":7}"#),
    ])
    .await;
    assert_eq!(
        outcome.log,
        [
            "create ada None Some(\"ada\") 0",
            "replace ada Some(\"ada\") Some(\"ada2\") 0",
            "delete ada None None 0",
        ]
    );
    assert_eq!(outcome.page.applied, 3);
    assert_eq!(outcome.page.undecodable[0].index, 3);
    assert_eq!(outcome.page.undecodable[0].hook, "log");
}

#[tokio::test]
async fn filters_and_soft_deletes() {
    let outcome = support::run::<Soft>(&[
        support::upsert("a", r#"{"id":"a","type":"user","plan":"pro"}"#),
        support::upsert("b", r#"{"id":"b","type":"user","plan":"other"}"#),
        support::upsert("c", r#"{"id":"c","type":"order","plan":"pro"}"#),
        support::upsert("d", r#"{"id":"d","type":"user","deletedAt":"2026-01-01"}"#),
        support::upsert(
            "e",
            r#"{"id":"e","type":"user","plan":"free","deletedAt":null}"#,
        ),
    ])
    .await;
    assert_eq!(
        outcome.log,
        ["soft put a", "gone Some(\"d\") Some(Soft)", "soft put e"]
    );
    assert_eq!((outcome.page.applied, outcome.page.unwanted), (3, 2));
}
