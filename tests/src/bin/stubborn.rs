//! The program whose hook takes its time: a document says how.
//!
//! Where it waits for the test, it goes on once there is a file `go` in its working directory.

use std::path::Path;
use std::time::Duration;

use projectionist::prelude::*;
use serde::Deserialize;

#[projection(
    collection = "things",
    name = "stubborn",
    start = beginning,
    ddl(sqlite = "create table if not exists done (id text primary key)")
)]
struct Stubborn;

#[derive(Deserialize)]
struct Thing {
    id: String,
    #[serde(default)]
    how: How,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum How {
    /// Like anybody else.
    #[default]
    Promptly,
    /// Waits for the test and keeps its thread.
    Blocks,
    /// Never comes back.
    Hangs,
}

impl Stubborn {
    #[on_upsert]
    async fn put(thing: Change<Thing>, mut tx: Tx<'_>) -> Result<(), BoxError> {
        tx.execute("insert into done (id) values ($1)", (&thing.id,))
            .await?;
        match thing.how {
            How::Promptly => {}
            How::Blocks => {
                while !Path::new("go").exists() {
                    block();
                }
            }
            How::Hangs => std::future::pending().await,
        }
        Ok(())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "to block its thread is what this hook is for"
)]
fn block() {
    std::thread::sleep(Duration::from_millis(2));
}

projectionist_runtime::main! {}
