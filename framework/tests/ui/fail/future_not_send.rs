use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {
        let count = std::rc::Rc::new(1);
        std::future::ready(()).await;
        drop(count);
    }
}

fn main() {}
