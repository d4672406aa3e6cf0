//! A page of rows and its checkpoint in one statement: all of it, or nothing (I2, I3).

use projectionist::row::cell::SqlKind;
use projectionist::row::{Child, Column, OnDelete, Table as RowTable};

use super::*;
use crate::store::Group;
use crate::table::{Dialect, TablePlan, script};

const fn column(name: &'static str, kind: SqlKind, is_key: bool) -> Column {
    Column {
        name,
        kind,
        is_nullable: false,
        is_key,
    }
}

static TABLE: RowTable = RowTable {
    name: "parents",
    columns: &[
        column("login", SqlKind::Text, true),
        column("n", SqlKind::Integer, false),
    ],
    children: &[Child {
        name: "items",
        columns: &[column("kind", SqlKind::Text, false)],
    }],
    on_delete: OnDelete::Remove,
};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Documents that leave, rows (document, login, n), and items (document, login, position, kind).
fn groups<'k>(
    leaving: &[&str],
    rows: &[(&str, &str, i64)],
    items: &[(&str, &str, i64)],
) -> Vec<Group<'k>> {
    use SqlKind::{Integer, Text};
    let key = || text("[\"t\"]");
    vec![
        Group {
            kinds: &[Text, Text],
            tuples: leaving.iter().flat_map(|id| [key(), text(id)]).collect(),
        },
        Group {
            kinds: &[Text, Text, Text, Integer],
            tuples: rows
                .iter()
                .flat_map(|(id, login, n)| [key(), text(id), text(login), Value::Integer(*n)])
                .collect(),
        },
        Group {
            kinds: &[Text, Text, Text, Integer, Text],
            tuples: items
                .iter()
                .flat_map(|(id, login, position)| {
                    let position = Value::Integer(*position);
                    [key(), text(id), text(login), position, text("k")]
                })
                .collect(),
        },
    ]
}

#[tokio::test]
async fn rows_and_checkpoint_are_written_together_or_not_at_all() {
    let Some(fixture) = Fixture::new().await else {
        return;
    };
    let store = &fixture.store;
    store
        .define("the test", &script(&TABLE, Dialect::Postgres))
        .await
        .unwrap();
    let plan = TablePlan::new(&TABLE, Dialect::Postgres);
    let once = plan.once().unwrap();
    let shown = async || {
        let parents = "select login, n from parents order by login";
        let items = "select login, count(*) from items group by login order by login";
        let mut all = store.query(parents).await.unwrap().rows;
        all.extend(store.query(items).await.unwrap().rows);
        all
    };
    let row = |login: &str, n| vec![text(login), Value::Integer(n)];
    let mut advance = fixture.advance();

    let first = || {
        groups(
            &[],
            &[("a", "ada", 1), ("b", "bob", 2)],
            &[("a", "ada", 0), ("a", "ada", 1)],
        )
    };
    // Whoever lost the lease writes nothing.
    let stale = Advance {
        epoch: advance.epoch - 1,
        ..advance.clone()
    };
    let fenced = store.write_once(once, first(), &stale).await;
    assert!(
        matches!(fenced, Some(Err(CommitError::Fenced(_)))),
        "{fenced:?}"
    );
    assert_eq!(shown().await, [] as [Vec<Value>; 0]);
    assert_eq!(fixture.version().await, 0);

    store
        .write_once(once, first(), &advance)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(fixture.version().await, 1);
    assert_eq!(shown().await, [row("ada", 1), row("bob", 2), row("ada", 2)]);
    // The same once more is another's page by now.
    let again = store.write_once(once, first(), &advance).await;
    assert!(
        matches!(again, Some(Err(CommitError::Fenced(_)))),
        "{again:?}"
    );

    // Rows change hands: `a` goes and `c` takes its key, its items with it. The answer gets lost on the way.
    advance.version = 1;
    let next = || groups(&["a"], &[("c", "ada", 3)], &[("c", "ada", 0)]);
    let lost = &store.0.lose_answers;
    lost.store(true, std::sync::atomic::Ordering::SeqCst);
    store
        .write_once(once, next(), &advance)
        .await
        .unwrap()
        .unwrap();
    lost.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(fixture.version().await, 2);
    assert_eq!(shown().await, [row("ada", 3), row("bob", 2), row("ada", 1)]);

    // What some row is refused for is for the long way to tell, and nothing of the page is there.
    advance.version = 2;
    for refused in [
        groups(&[], &[("d", "dan", 4), ("e", "bob", 5)], &[]),
        groups(&[], &[("d", "dan", 4)], &[("d", "dan", 0), ("d", "dan", 0)]),
        groups(&[], &[("d", "d\0n", 4)], &[]),
    ] {
        assert!(store.write_once(once, refused, &advance).await.is_none());
        assert_eq!(shown().await, [row("ada", 3), row("bob", 2), row("ada", 1)]);
        assert_eq!(fixture.version().await, 2);
    }
}
