use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
#[on_delete(drop)]
struct Rows {
    #[column(key)]
    id: String,
}

fn main() {}
