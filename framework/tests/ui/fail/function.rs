use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub fn billing() {}

fn main() {}
