use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
#[on_delete(remove)]
struct Rows {
    #[column(key)]
    id: String,
}

impl Rows {
    #[on_delete]
    async fn forget() {}
}

fn main() {}
