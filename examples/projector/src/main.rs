//! The whole program.

fn main() {}
