//! The example's documents, handed to the runtime: the example itself knows nothing of it.

use cosmicworks::demo::{TABLES, Write, writes};
use projectionist_runtime::{Demo, DemoWrite};

/// The shop's history, and what to show of the read model.
pub(crate) fn demo() -> Demo {
    let demo = Demo::new(|| writes().map(convert));
    TABLES
        .iter()
        .fold(demo, |demo, (title, query)| demo.table(*title, *query))
}

fn convert(write: Write) -> DemoWrite {
    match write {
        Write::Upsert {
            collection,
            document,
        } => DemoWrite::Upsert {
            collection: collection.to_owned(),
            document,
        },
        Write::Delete {
            collection,
            id,
            partition_key,
        } => DemoWrite::Delete {
            collection: collection.to_owned(),
            id,
            partition_key,
        },
    }
}
