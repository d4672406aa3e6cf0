use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key, form = "a")]
    id: String,
}

fn main() {}
