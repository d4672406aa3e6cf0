//! Runs projections.
