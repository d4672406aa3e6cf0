use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key, from = "a..b")]
    id: String,
    #[column(from = "")]
    other: String,
}

fn main() {}
