//! The chores of the project: `cargo xtask test`.

fn main() {}
