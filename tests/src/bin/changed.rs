//! `shelf` after a change that should not have been made: `trail` has lost its hook for deletes, and
//! with it its mode; the DDL of `books` is misspelt.

use projectionist::prelude::*;

#[projection(collection = "shelf", name = "trail", start = now)]
struct Trail;

impl Trail {
    #[on_upsert]
    async fn log(&self) {}
}

#[projection(collection = "shelf", name = "books", start = beginning, ddl = "misspelt.sql")]
struct Books;

impl Books {
    #[on_upsert]
    async fn put(&self) {}
}

projectionist_runtime::main! {}
