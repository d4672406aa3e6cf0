use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
    #[column(each = "items", table = "items")]
    items: Vec<Item>,
}

#[derive(ProjectionRow)]
struct Item {
    id: String,
}

fn main() {}
