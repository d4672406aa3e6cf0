use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
#[allow(non_snake_case)]
struct Rows {
    #[column(key)]
    id: String,
    Id: String,
}

fn main() {}
