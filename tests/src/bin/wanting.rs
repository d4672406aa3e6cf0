//! A program whose set-up gives less than its hooks take, and reads settings of its own.

use std::process::ExitCode;

use projectionist::prelude::*;
use projectionist_runtime::{Projector, link};
use serde::Deserialize;

/// What hooks take and nobody gives.
struct Prices;

/// What the set-up reads.
#[derive(Deserialize)]
struct Settings {
    currency: String,
}

#[projection(collection = "shelf", name = "books")]
struct Books;

impl Books {
    #[on_upsert]
    async fn put(&self, _prices: State<Prices>, _currency: State<String>) {}
}

fn main() -> ExitCode {
    Projector::new(link!())
        .setup(async |app| {
            let settings: Settings = app.settings("prices")?;
            app.state(settings.currency);
            Ok(())
        })
        .main()
}
