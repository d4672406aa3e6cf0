//! The statements, each with the test that shows it.

use futures_util::future::BoxFuture;

use super::hooks::Told;
use super::{delivery, history, identity, latest, starts};

type Row = (&'static str, BoxFuture<'static, ()>);

macro_rules! rows {
    ($($statement:literal => $test:path,)*) => {
        pub(super) fn all() -> Vec<Row> {
            vec![$(($statement, Box::pin($test()))),*]
        }
    };
}

rows! {
    "order holds inside one logical partition and inside one range" => delivery::order,
    "a failing page is read again, also when it was the very first, and the checkpoint waits for it" => delivery::failing_first_page,
    "what a hook wrote through `Tx` commits with its page, once, or not at all" => delivery::exactly_once,
    "a hook is never called with an empty batch" => delivery::no_empty_batch,
    "an owner that lost its lease commits nothing, and the page is read again" => delivery::fenced,
    "a change carries the whole document" => delivery::whole_document,
    "the feed is unfiltered: a write that changes nothing is a change" => delivery::same_again,
    "latest version: created then replaced between two reads comes once, with the replace" => latest::latest_once,
    "latest version: a hard delete comes not at all" => latest::latest_hard_delete,
    "latest version: created and deleted between two reads comes not at all" => latest::latest_gone,
    "latest version: a soft delete is a write like any other" => latest::soft_delete,
    "all versions: every write comes, with operation, current and previous" => history::every_write,
    "all versions: created and deleted between two reads comes as both" => history::every_gone,
    "all versions: previous only where the container retains it" => history::no_previous,
    "all versions: a delete has id and partition key, and no document" => history::delete_is_bare,
    "all versions: a document that expired is a delete that says so" => history::expired,
    "`now` is anchored when the projector starts, not at the first read" => starts::now_is_anchored,
    "`now` does not see what is older" => starts::now_sees_nothing_old,
    "`beginning` sees what is there" => starts::beginning,
    "a time sees what was written then or later" => starts::time,
    "a checkpoint wins over a start option, which is reported" => starts::checkpoint_wins,
    "all versions refuses beginning and times, naming the hook and the way out" => starts::no_beginning,
    "all versions refuses a collection without a retention window" => history::no_retention,
    "another name reads the same feed on its own" => delivery::names,
    "older than the retention window is terminal" => history::retention_exceeded,
    "a collection made anew under the same name is another one" => identity::recreated,
    "a journal that is shorter than the checkpoint is an error" => identity::shortened,
    "another mode under the same name is refused, with the choices" => identity::switched,
}

/// Operation, id and version of each change; a delete has version 0.
pub(super) fn versions(told: &[Told]) -> Vec<(&str, &str, u64)> {
    told.iter()
        .map(|told| {
            let version = told
                .current
                .as_ref()
                .map_or(0, |now| now["v"].as_u64().unwrap());
            (told.operation.as_str(), told.id.as_str(), version)
        })
        .collect()
}
