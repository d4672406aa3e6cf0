use projectionist::prelude::*;

#[derive(ProjectionRow)]
struct Item {
    #[column(each = "parts", table = "parts")]
    parts: Vec<Part>,
}

#[derive(ProjectionRow)]
struct Part {
    name: String,
}

fn main() {}
