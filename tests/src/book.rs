//! The book's code, compiled: every block of a chapter is a doctest here, or an include from the examples.
//!
//! The tests hold the book to that: no copied code, no dead link, no stale table.

#[doc = include_str!("../../book/src/introduction.md")]
mod introduction {}

#[doc = include_str!("../../book/src/start.md")]
mod start {}

#[doc = include_str!("../../book/src/rows.md")]
mod rows {}
#[doc = include_str!("../../book/src/hooks.md")]
mod hooks {}

#[doc = include_str!("../../book/src/modes.md")]
mod modes {}

#[doc = include_str!("../../book/src/testing.md")]
mod testing {}

#[doc = include_str!("../../book/src/postgres.md")]
mod postgres {}
#[doc = include_str!("../../book/src/cosmos.md")]
mod cosmos {}

#[doc = include_str!("../../book/src/settings.md")]
mod settings {}

#[doc = include_str!("../../book/src/gateway.md")]
mod gateway {}

#[doc = include_str!("../../book/src/queries.md")]
mod queries {}

#[doc = include_str!("../../book/src/errors.md")]
mod errors {}

#[doc = include_str!("../../book/src/benchmarks.md")]
mod benchmarks {}

#[cfg(test)]
mod tests;
