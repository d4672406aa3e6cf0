use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows(String);

fn main() {}
