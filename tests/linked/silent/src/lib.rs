//! Nothing here is public, and no line of the program names it: only `link!` keeps it.

mod deep {
    use projectionist::prelude::*;

    #[projection(collection = "shelf", name = "deep")]
    struct Deep;

    impl Deep {
        #[on_upsert]
        async fn put(&self) {}
    }
}

use projectionist::prelude::*;

#[projection(collection = "shelf", name = "plain")]
struct Plain;

impl Plain {
    #[on_upsert]
    async fn put(&self) {}
}
