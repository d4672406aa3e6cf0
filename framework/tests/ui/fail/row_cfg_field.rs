use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
    #[cfg(test)]
    other: String,
}

fn main() {}
