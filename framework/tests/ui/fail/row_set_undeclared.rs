use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
#[on_delete(set(activ = false, id = "x"))]
struct Rows {
    #[column(key)]
    id: String,
    active: bool,
}

fn main() {}
