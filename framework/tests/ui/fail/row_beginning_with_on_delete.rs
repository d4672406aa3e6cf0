use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t", start = beginning)]
#[on_delete(remove)]
struct Rows {
    #[column(key)]
    id: String,
}

fn main() {}
