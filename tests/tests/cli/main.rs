//! The command line as a user meets it: transcripts, and what a transcript cannot hold.

#![expect(clippy::unwrap_used, reason = "what fails here is a failed test")]

mod bad;
mod cosmos;
mod linked;
mod program;
mod signals;
mod transcripts;
