use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
    #[column(with = count)]
    count: i64,
}

fn count(text: String) -> Result<usize, String> {
    Ok(text.len())
}

fn main() {}
