//! The program whose hook takes its time: a document says how.
//!
//! Where it waits for the test it leaves the file `waiting` in its working directory, and goes on once
//! there is a file `go`.

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
    /// Waits for the test, as a hook should.
    Waits,
    /// Waits for the test and keeps its thread.
    Blocks,
    /// Never comes back.
    Hangs,
}

const STEP: Duration = Duration::from_millis(2);

fn may_go() -> std::io::Result<bool> {
    std::fs::write("waiting", "")?;
    Ok(Path::new("go").exists())
}

impl Stubborn {
    #[on_upsert]
    async fn put(thing: Change<Thing>, mut tx: Tx<'_>) -> Result<(), BoxError> {
        tx.execute("insert into done (id) values ($1)", (&thing.id,))
            .await?;
        match thing.how {
            How::Promptly => {}
            How::Waits => {
                while !may_go()? {
                    tokio::time::sleep(STEP).await;
                }
            }
            How::Blocks => {
                while !may_go()? {
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
    std::thread::sleep(STEP);
}

projectionist_runtime::main! {}
