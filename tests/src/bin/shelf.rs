//! A small program for the transcripts in `tests/cli`: what a document says is what its hook does.

use projectionist::prelude::*;
use projectionist_runtime::{Demo, DemoWrite};
use serde::Deserialize;
use serde_json::json;

/// A book on the shelf.
#[derive(Deserialize)]
struct Book {
    id: String,
    copies: i64,
    /// What the hook does: `fail`, `hang`, or its job.
    #[serde(default)]
    task: String,
}

/// The rows of `books`.
#[projection(collection = "shelf", name = "books", start = beginning, ddl = "books.sql")]
struct Books;

impl Books {
    #[on_upsert]
    async fn put(&self, book: Change<Book>, mut tx: Tx<'_>) -> Result<(), BoxError> {
        match book.task.as_str() {
            "fail" => return Err(format!("book {} is on loan", book.id).into()),
            "hang" => {
                eprintln!("hanging");
                std::future::pending::<()>().await;
            }
            _ => {}
        }
        tx.execute(
            "insert into books (id, copies) values ($1, $2)
             on conflict (id) do update set copies = excluded.copies",
            (&book.id, book.copies),
        )
        .await?;
        Ok(())
    }
}

/// One row for each change.
#[projection(collection = "shelf", name = "trail", ddl = "trail.sql")]
struct Trail;

impl Trail {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn log(&self, op: Operation, id: DocumentId, mut tx: Tx<'_>) -> Result<(), TxError> {
        tx.execute(
            "insert into trail (operation, id) values ($1, $2)",
            (op.as_str(), &*id),
        )
        .await?;
        Ok(())
    }
}

fn demo() -> Demo {
    let put = |id: &str, copies: i64| DemoWrite::Upsert {
        collection: "shelf".to_owned(),
        document: json!({ "id": id, "room": "east", "copies": copies }),
    };
    let delete = DemoWrite::Delete {
        collection: "shelf".to_owned(),
        id: "emma".to_owned(),
        partition_key: json!("east"),
    };
    let writes = vec![put("emma", 1), put("ulysses", 2), put("ulysses", 3), delete];
    Demo::new(|| writes)
        .table("Books", "select id, copies from books order by id")
        .table(
            "Changes",
            "select operation, count(*) as changes from trail group by operation order by operation",
        )
}

projectionist_runtime::main! { ; demo = demo() }
