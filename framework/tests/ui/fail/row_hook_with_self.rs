use projectionist::prelude::*;

#[projection(collection = "c", name = "n", table = "t")]
struct Rows {
    #[column(key)]
    id: String,
}

impl Rows {
    #[on_upsert]
    async fn tell(&self) {}
}

fn main() {}
