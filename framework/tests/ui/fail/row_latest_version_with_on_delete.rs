use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t", mode = latest_version)]
#[on_delete(remove)]
struct Rows {
    #[column(key)]
    id: String,
}

fn main() {}
