use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
    #[column(each = "items", table = "T")]
    items: Vec<Item>,
}

#[derive(ProjectionRow)]
struct Item {
    name: String,
}

fn main() {}
