//! The attribute macros of `projectionist`.
