//! What a store's or a feed's error means to a projection: its code and the way out.

use super::{Problem, codes};
use crate::feed::FeedError;
use crate::position::Bounds;
use crate::store::{SplitError, StoreError};

/// A store's error, as a problem of a projection.
pub(crate) fn store_problem(projection: &str, error: StoreError) -> Problem {
    let (code, help) = match error {
        StoreError::Busy { .. } => (
            codes::STORE_BUSY,
            "Another process holds the store; try again when it is done.",
        ),
        StoreError::ReadOnly { .. } => (
            codes::STORE_READ_ONLY,
            "Make the file and its folder writable for this user, or set another `data_dir`.",
        ),
        StoreError::Schema { .. } => (
            codes::STORE_SCHEMA,
            "Run the newer program, or set another `data_dir`.",
        ),
        StoreError::Define { .. } => (
            codes::DDL_FAILED,
            "Mend the DDL; it must be repeatable (`create table if not exists …`).",
        ),
        StoreError::Corrupt { .. } => (
            codes::STORE_CORRUPT,
            "Restore the store from a backup, or set another `data_dir`.",
        ),
        _ => (
            codes::STORE_FAILED,
            "Look at the disk's free space, and at the rights and the owner of the store's files.",
        ),
    };
    Problem::new(
        code,
        format!("projection `{projection}` cannot use its store"),
        help,
    )
    .because(error)
}

/// A lease that is neither there nor split.
pub(crate) fn lease_gone(projection: &str, bounds: &Bounds) -> Problem {
    Problem::new(
        codes::STORE_CORRUPT,
        format!("the checkpoint of projection `{projection}` on range {bounds} is gone"),
        "Somebody deleted it from the store. Start the projector again: it begins anew by its start option.",
    )
}

/// Why a lease was not split, as a problem of a projection.
pub(crate) fn split_problem(projection: &str, error: SplitError) -> Problem {
    let (code, help) = match error {
        SplitError::Store(error) => return store_problem(projection, error),
        SplitError::Fenced(_) => (
            codes::LEASE_LOST,
            "Find the other program that runs on this store, and let one of the two go on.",
        ),
        SplitError::Untiled { .. } => (
            codes::RANGES_UNCOVERED,
            "The feed lists ranges with a gap or an overlap. This is a defect; please report it with the log.",
        ),
    };
    Problem::new(
        code,
        format!("projection `{projection}` cannot split a lease"),
        help,
    )
    .because(error)
}

/// What can be done where ranges were merged under an all-versions projection.
pub(crate) const MERGED: &str = "Nothing was skipped or stored. Give the projection a new name, so that it starts at now: what was written between its last checkpoint and that start is not told to it. Or run it in latest-version mode under a new name, with `soft_delete(…)` for deletes: that mode reads on through merges.";

/// A feed's error, as a problem of a projection.
pub(crate) fn feed_problem(projection: &str, error: FeedError) -> Problem {
    let (code, help) = match error {
        FeedError::NoRetention { .. } => (
            codes::NO_RETENTION,
            "Give the collection a retention window.",
        ),
        FeedError::RetentionExceeded { .. } => (
            codes::RETENTION_EXCEEDED,
            "Changes were lost to this projection. Give it a new name, so that it starts anew; or, if the gap does not matter, start it at now under a new name.",
        ),
        FeedError::BeyondEnd { .. } => (
            codes::BEYOND_END,
            "The collection is shorter than it was: its journal was lost, shortened or replaced. Restore it, or give the projection a new name to start anew.",
        ),
        FeedError::BadPosition { .. } => (
            codes::BAD_POSITION,
            "The store belongs to another feed, or is damaged.",
        ),
        FeedError::Gone { .. } => (
            codes::RANGE_GONE,
            "Nothing was lost. Start the projector again once the split is done; it goes on from its checkpoints.",
        ),
        FeedError::Merged { .. } => (codes::RANGES_MERGED, MERGED),
        FeedError::Missing { .. } => (
            codes::COLLECTION_MISSING,
            "Create it, or correct `account`, `database` and `container` of the collection in the settings.",
        ),
        FeedError::Recreated { .. } => (
            codes::COLLECTION_RECREATED,
            "What it held is gone, and its positions mean nothing in the new one. Give the projection a new name, so that it starts anew.",
        ),
        FeedError::Denied { .. } => (
            codes::ACCESS_DENIED,
            "Give the identity the role `Cosmos DB Built-in Data Reader`, or one with the actions `Microsoft.DocumentDB/databaseAccounts/readMetadata` and `Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/readChangeFeed`; or set the account's key. If it has them, look at the account's firewall: it refuses with the same code.",
        ),
        FeedError::Deleted { .. } => (
            codes::COLLECTION_MISSING,
            "Create it, or map the collection to another one in the settings.",
        ),
        _ => (
            codes::FEED_UNAVAILABLE,
            "Look at the account's `endpoint` in the settings, at the network between here and there, and at the account's firewall and health. Then start again: nothing was lost.",
        ),
    };
    Problem::new(
        code,
        format!("projection `{projection}` cannot read its feed"),
        help,
    )
    .because(error)
}
