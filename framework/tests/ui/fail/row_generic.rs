use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t", register = false)]
struct Rows<T> {
    #[column(key)]
    id: T,
}

fn main() {}
