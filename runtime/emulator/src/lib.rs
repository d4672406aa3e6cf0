//! A local document store with a change feed.
