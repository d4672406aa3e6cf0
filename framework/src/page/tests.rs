//! Dispatch: which hook takes a change, for all that a change can be.

use jiff::Timestamp;

use super::*;
use crate::change::Document;
use crate::filter::{Literal, Test};
use crate::needs::Needs;

const HOOK: Hook = Hook {
    name: "it",
    needs: Needs::NOTHING,
    states: &[],
    databases: &[],
    only: &[],
    takes_self: false,
};
const NONE: Hooks = Hooks {
    on_upsert: None,
    on_create: None,
    on_replace: None,
    on_delete: None,
    on_expire: None,
};
const USERS: &[Condition] = &[Condition {
    path: &["type"],
    test: Test::In(&[Literal::Text("user")]),
}];
const SPEC: Spec = Spec {
    name: "billing",
    collection: "users",
    only: &[],
    soft_delete: None,
    start: None,
    batch: None,
    ddl: None,
    table: None,
};
const SOFT: Spec = Spec {
    soft_delete: Some(Condition {
        path: &["deleted"],
        test: Test::Set,
    }),
    ..SPEC
};

fn change(operation: Operation, current: &str, previous: &str) -> RawChange {
    let document = |json: &str| {
        let json = json.to_owned().into();
        Some(Document::from_json(json)).filter(|document| !document.json().is_empty())
    };
    RawChange {
        id: "ada".into(),
        partition_key: "[\"t1\"]".into(),
        operation,
        current: document(current),
        previous: document(previous),
        etag: None,
        sequence: None,
        ordinal: 0,
        timestamp: Timestamp::UNIX_EPOCH,
        expired: false,
    }
}

fn expired() -> RawChange {
    RawChange {
        expired: true,
        ..change(Operation::Delete, "", "")
    }
}

/// The kinds that a page of these changes names, each answered with `Done`, and what became of it.
fn walk(
    spec: Spec,
    hooks: &Hooks,
    changes: &[RawChange],
) -> (Vec<(Kind, Option<DeleteKind>)>, Outcome) {
    let (spec, hooks) = (Box::leak(Box::new(spec)), Box::leak(Box::new(*hooks)));
    let states = States::default();
    let cancellation = CancellationToken::new();
    let progress = AtomicUsize::new(0);
    let info = PageInfo {
        projection: "billing",
        collection: "users",
        range_id: "0",
        attempt: 1,
        cancellation: &cancellation,
        progress: &progress,
    };
    let mut page = Page::new(spec, hooks, changes, &states, None, info);
    let mut called = Vec::new();
    while let Some((kind, cx)) = page.advance() {
        called.push((kind, cx.delete_kind()));
        assert!(page.settle(Ok(Verdict::Done)).is_continue());
    }
    (called, page.finish())
}

fn kind(spec: Spec, hooks: &Hooks, change: RawChange) -> Option<(Kind, Option<DeleteKind>)> {
    let (called, outcome) = walk(spec, hooks, &[change]);
    assert_eq!(outcome.applied, called.len());
    assert_eq!(outcome.applied + outcome.unwanted, 1);
    called.first().copied()
}

#[test]
fn each_operation_goes_to_one_hook() {
    use DeleteKind::{Expired, Hard};
    let on = Some(HOOK);
    let upsert = Hooks {
        on_upsert: on,
        ..NONE
    };
    let create = Hooks {
        on_create: on,
        ..NONE
    };
    let replace = Hooks {
        on_replace: on,
        ..NONE
    };
    let delete = Hooks {
        on_delete: on,
        ..NONE
    };
    let expire = Hooks {
        on_expire: on,
        ..NONE
    };
    let upsert_create = Hooks {
        on_create: on,
        ..upsert
    };
    let upsert_replace = Hooks {
        on_replace: on,
        ..upsert
    };
    let delete_expire = Hooks {
        on_expire: on,
        ..delete
    };
    // Columns: an upsert, a create, a replace, a delete, an expiry.
    let table = [
        (
            upsert,
            [
                Some(Kind::Upsert),
                Some(Kind::Upsert),
                Some(Kind::Upsert),
                None,
                None,
            ],
        ),
        (create, [None, Some(Kind::Create), None, None, None]),
        (replace, [None, None, Some(Kind::Replace), None, None]),
        (
            delete,
            [None, None, None, Some(Kind::Delete), Some(Kind::Delete)],
        ),
        (expire, [None, None, None, None, Some(Kind::Expire)]),
        (
            upsert_create,
            [
                Some(Kind::Upsert),
                Some(Kind::Create),
                Some(Kind::Upsert),
                None,
                None,
            ],
        ),
        (
            upsert_replace,
            [
                Some(Kind::Upsert),
                Some(Kind::Upsert),
                Some(Kind::Replace),
                None,
                None,
            ],
        ),
        (
            delete_expire,
            [None, None, None, Some(Kind::Delete), Some(Kind::Expire)],
        ),
    ];
    for (hooks, expected) in table {
        let changes = [
            (change(Operation::Upsert, "{}", ""), None),
            (change(Operation::Create, "{}", ""), None),
            (change(Operation::Replace, "{}", "{}"), None),
            (change(Operation::Delete, "", ""), Some(Hard)),
            (expired(), Some(Expired)),
        ];
        for ((change, delete), expected) in changes.into_iter().zip(expected) {
            let operation = change.operation;
            let called = kind(SPEC, &hooks, change);
            assert_eq!(
                called,
                expected.map(|kind| (kind, delete)),
                "{operation} {hooks:?}"
            );
        }
    }
}

#[test]
fn a_marked_write_is_a_delete() {
    let hooks = Hooks {
        on_upsert: Some(HOOK),
        on_delete: Some(HOOK),
        ..NONE
    };
    let marked = r#"{"deleted":true}"#;
    let soft = Some((Kind::Delete, Some(DeleteKind::Soft)));
    let upsert = Some((Kind::Upsert, None));
    for operation in [Operation::Upsert, Operation::Create, Operation::Replace] {
        assert_eq!(kind(SOFT, &hooks, change(operation, marked, "")), soft);
        assert_eq!(kind(SOFT, &hooks, change(operation, "{}", "")), upsert);
        assert_eq!(kind(SPEC, &hooks, change(operation, marked, "")), upsert);
    }
    // A document that is written again without its mark is back.
    assert_eq!(
        kind(SOFT, &hooks, change(Operation::Replace, "{}", marked)),
        upsert
    );
    // P30: the purge of a marked document is a delete of its own.
    let purge = change(Operation::Delete, "", marked);
    assert_eq!(
        kind(SOFT, &hooks, purge),
        Some((Kind::Delete, Some(DeleteKind::Hard)))
    );
    let without = Hooks {
        on_delete: None,
        ..hooks
    };
    assert_eq!(
        kind(SOFT, &without, change(Operation::Upsert, marked, "")),
        None
    );
}

#[test]
fn filters_of_the_projection_and_of_the_hook_must_both_hold() {
    const PAID: &[Condition] = &[Condition {
        path: &["plan"],
        test: Test::In(&[Literal::Text("pro")]),
    }];
    let spec = Spec {
        only: USERS,
        ..SOFT
    };
    let hooks = Hooks {
        on_upsert: Some(Hook { only: PAID, ..HOOK }),
        on_delete: Some(HOOK),
        ..NONE
    };
    let called =
        |json: &str| kind(spec, &hooks, change(Operation::Upsert, json, "")).map(|(kind, _)| kind);
    assert_eq!(
        called(r#"{"type":"user","plan":"pro"}"#),
        Some(Kind::Upsert)
    );
    assert_eq!(called(r#"{"type":"user","plan":"free"}"#), None);
    assert_eq!(called(r#"{"type":"order","plan":"pro"}"#), None);
    // The other hook's filter is not this one's.
    assert_eq!(called(r#"{"type":"user","deleted":1}"#), Some(Kind::Delete));
    assert_eq!(called(r#"{"type":"order","deleted":1}"#), None);
}

#[test]
fn a_delete_is_filtered_by_what_it_carries() {
    let spec = Spec {
        only: USERS,
        ..SPEC
    };
    let hooks = Hooks {
        on_delete: Some(HOOK),
        ..NONE
    };
    let called = |change| kind(spec, &hooks, change).is_some();
    assert!(called(change(Operation::Delete, "", "")));
    assert!(called(expired()));
    assert!(called(change(Operation::Delete, "", r#"{"type":"user"}"#)));
    assert!(!called(change(
        Operation::Delete,
        "",
        r#"{"type":"order"}"#
    )));
}

#[test]
fn what_no_filter_can_read_is_put_down() {
    let spec = Spec {
        only: USERS,
        ..SPEC
    };
    let hooks = Hooks {
        on_upsert: Some(HOOK),
        ..NONE
    };
    let changes = [
        change(Operation::Upsert, r#"{"type":"order"}"#, ""),
        change(Operation::Upsert, "[", ""),
        change(Operation::Upsert, r#"{"type":"user"}"#, ""),
    ];
    let (called, outcome) = walk(spec, &hooks, &changes);
    assert_eq!(called, [(Kind::Upsert, None)]);
    assert_eq!((outcome.applied, outcome.unwanted), (1, 1));
    let [letter] = &outcome.undecodable[..] else {
        panic!("one letter: {outcome:?}");
    };
    assert_eq!((letter.index, letter.hook), (1, ""));
}

type Expected = fn(&StopReason) -> bool;

#[test]
fn answers_settle_a_page() {
    let hooks: &'static Hooks = const {
        &Hooks {
            on_upsert: Some(HOOK),
            ..NONE
        }
    };
    let changes = vec![change(Operation::Upsert, "{}", ""); 3];
    let states = States::default();
    let cancellation = CancellationToken::new();
    let progress = AtomicUsize::new(0);
    let info = PageInfo {
        projection: "billing",
        collection: "users",
        range_id: "0",
        attempt: 1,
        cancellation: &cancellation,
        progress: &progress,
    };
    let wrong = || serde_json::from_str::<u8>("x").unwrap_err();
    let stops: [(Answer, Expected); 4] = [
        (Ok(Verdict::poison("bad")), |why| {
            matches!(why, StopReason::Poison(_))
        }),
        (
            Ok(Verdict::retry_after(Duration::from_secs(5))),
            |why| matches!(why, StopReason::RetryAfter(delay) if delay.as_secs() == 5),
        ),
        (Err(Failure::Hook("no".into())), |why| {
            matches!(why, StopReason::Error(_))
        }),
        (
            Err(Failure::Argument(ExtractError::Absent("transaction"))),
            |why| matches!(why, StopReason::Error(_)),
        ),
    ];
    for (answer, expected) in stops {
        let mut page = Page::new(const { &SPEC }, hooks, &changes, &states, None, info);
        assert!(page.advance().is_some());
        assert!(page.settle(Ok(Verdict::Skip)).is_continue());
        assert!(page.advance().is_some());
        // An undecodable document becomes a letter, and the page goes on.
        assert!(
            page.settle(Err(Failure::Argument(ExtractError::Document(wrong()))))
                .is_continue()
        );
        assert!(page.advance().is_some());
        assert_eq!(progress.load(Ordering::Relaxed), 2);
        assert!(page.settle(answer).is_break());
        let outcome = page.finish();
        assert_eq!((outcome.applied, outcome.undecodable.len()), (1, 1));
        let stopped = outcome.stopped.unwrap();
        assert_eq!((stopped.index, stopped.hook), (2, "it"));
        assert!(expected(&stopped.reason), "{:?}", stopped.reason);
    }
}
