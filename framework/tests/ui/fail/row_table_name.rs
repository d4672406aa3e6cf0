use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "projectionist_x")]
struct Rows {
    #[column(key)]
    id: String,
    projectionist_id: String,
}

fn main() {}
