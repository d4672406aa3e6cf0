//! Projections over CosmicWorks.
