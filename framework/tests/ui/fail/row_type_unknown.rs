use projectionist::prelude::*;

struct Odd;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
    odd: Odd,
}

fn main() {}
