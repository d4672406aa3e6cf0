//! Tests of the whole, through public interfaces only.

mod book;
