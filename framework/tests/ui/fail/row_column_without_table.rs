use projectionist::prelude::*;

#[projection(collection = "c", name = "n")]
struct Hooked {
    #[column(key)]
    id: String,
}

impl Hooked {
    #[on_upsert]
    async fn keep() {}
}

fn main() {}
