//! A page's rows and its checkpoint in one statement, where a page has nothing but rows.
//!
//! What writes depends on what removes, and all of it on the compare-and-set: so the database carries the parts out in
//! that order, though they stand side by side.

use projectionist::change::RawChange;
use projectionist::row::page::RowPage;
use projectionist::row::{ID_COLUMN, KEY_COLUMN, OnDelete, Table};

use super::dialect::{Dialect, quoted};
use super::plan::{TablePlan, unnest};
use super::tuples::{Tuples, document};
use crate::store::{Bulk, Group, Once};

/// The statement of a table. None: its database or its rule of deletes has none.
pub(super) fn once(
    table: &Table,
    upsert: &Bulk,
    children: &[(&'static str, &Bulk)],
    dialect: Dialect,
) -> Option<Once> {
    if dialect != Dialect::Postgres || table.on_delete != OnDelete::Remove {
        return None;
    }
    let mut next = 6;
    let mut arrays = |kinds: &[_]| {
        let from = unnest(kinds, dialect, next);
        next += kinds.len();
        from
    };
    let hidden = format!("{}, {}", quoted(KEY_COLUMN), quoted(ID_COLUMN));
    let document = &upsert.kinds()[..2];
    let mut parts = vec![
        "advanced as (update projectionist_checkpoints set version = version + 1, position = $4, changed_at = $5 where lease = $1 and epoch = $2 and version = $3 returning 1)".to_owned(),
        format!(
            "leaving as (select c1, c2 from {} where exists (select 1 from advanced))",
            arrays(document)
        ),
        format!(
            "coming as (select * from {} where exists (select 1 from advanced))",
            arrays(upsert.kinds())
        ),
        format!(
            "gone as (delete from {} where ({hidden}) in (select c1, c2 from leaving) returning 1)",
            quoted(table.name)
        ),
        format!(
            "written as ({} where (select count(*) from gone) >= 0{})",
            upsert.select_from("coming"),
            upsert.after()
        ),
    ];
    for (number, (name, insert)) in children.iter().enumerate() {
        let items = arrays(insert.kinds());
        parts.push(format!(
            "gone_{number} as (delete from {} where ({hidden}) in (select c1, c2 from leaving union all select c1, c2 from coming) returning 1)",
            quoted(name)
        ));
        parts.push(format!(
            "items_{number} as (select * from {items} where exists (select 1 from advanced))"
        ));
        parts.push(format!(
            "written_{number} as ({} where (select count(*) from gone_{number}) >= 0)",
            insert.select_from(&format!("items_{number}"))
        ));
    }
    Some(Once {
        text: format!("with {} select count(*) from advanced", parts.join(",\n")),
    })
}

/// The groups of a page for its statement. None: the page has more than rows that it can write.
pub(crate) fn groups<'p>(
    plan: &'p TablePlan,
    page: &RowPage,
    changes: &[RawChange],
) -> Option<(&'p Once, Vec<Group<'p>>)> {
    let once = plan.once.as_ref()?;
    // What is no row becomes a letter, and a zero character is none of PostgreSQL's.
    if !page.undecodable.is_empty() || changes.iter().any(|change| change.id.contains('\0')) {
        return None;
    }
    let mut leaving = Group {
        kinds: &plan.upsert.kinds()[..2],
        tuples: plan.remove.tuples(page.deleted.len()),
    };
    for index in &page.deleted {
        document(&changes[*index], &mut leaving.tuples);
    }
    let of = Tuples {
        plan,
        page,
        changes,
    };
    let all: Vec<usize> = (0..page.written.len()).collect();
    let mut groups = vec![
        leaving,
        Group {
            kinds: plan.upsert.kinds(),
            tuples: of.rows(&all),
        },
    ];
    for (index, child) in plan.children.iter().enumerate() {
        groups.push(Group {
            kinds: child.insert.kinds(),
            tuples: of.items(index, &all),
        });
    }
    Some((once, groups))
}
