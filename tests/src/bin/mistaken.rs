//! A program in which two projections have one name.

use projectionist::prelude::*;

#[projection(collection = "shelf", name = "books")]
struct Books;

impl Books {
    #[on_upsert]
    async fn put(&self) {}
}

#[projection(collection = "shelf", name = "books")]
struct OtherBooks;

impl OtherBooks {
    #[on_upsert]
    async fn put(&self) {}
}

projectionist_runtime::main! {}
