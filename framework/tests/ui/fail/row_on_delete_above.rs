use projectionist::prelude::*;

#[on_delete(remove)]
#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
}

fn main() {}
