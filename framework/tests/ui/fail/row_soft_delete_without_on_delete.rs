use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t", soft_delete(deleted))]
struct Rows {
    #[column(key)]
    id: String,
}

fn main() {}
