use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t", init = Rows::new)]
struct Rows {
    #[column(key)]
    id: String,
}

fn main() {}
