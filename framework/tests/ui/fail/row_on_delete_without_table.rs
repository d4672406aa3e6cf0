use projectionist::prelude::*;

#[projection(collection = "c", name = "n")]
#[on_delete(remove)]
struct Hooked;

impl Hooked {
    #[on_upsert]
    async fn keep() {}
}

fn main() {}
