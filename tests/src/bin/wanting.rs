//! A program of which little fits: its set-up gives less than its hooks take, one of them wants another
//! database, and a projection cannot be made.

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
    async fn put(&self, _prices: State<Prices>, _currency: State<String>, _tx: Tx<'_, Sqlite>) {}
}

#[projection(collection = "shelf", name = "stock", init = Self::new)]
struct Stock;

impl Stock {
    fn new(_: &States) -> Result<Self, BoxError> {
        Err("the stock is being counted".into())
    }

    #[on_upsert]
    async fn put(&self) {}
}

fn main() -> ExitCode {
    Projector::new(link!())
        .setup(async |app| {
            let settings: Settings = app.settings("prices")?;
            if settings.currency.len() != 3 {
                return Err(format!("{} is no currency", settings.currency).into());
            }
            app.state(settings.currency);
            Ok(())
        })
        .main()
}
