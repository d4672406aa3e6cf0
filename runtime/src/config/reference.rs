//! The book's table of settings.

use std::fmt::Write as _;

use super::key::KEYS;

/// The table of all settings, as markdown.
pub fn reference() -> String {
    let mut table =
        String::from("| setting | environment | values | default | |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let default = key
            .default
            .map_or_else(|| "–".to_owned(), |default| format!("`{default}`"));
        let name = key.name.replace("**", "…").replace('*', "NAME");
        let variable = key.variable();
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| `{name}` | `{variable}` | {} | {default} | {} |",
            key.form, key.about
        );
    }
    table
}
