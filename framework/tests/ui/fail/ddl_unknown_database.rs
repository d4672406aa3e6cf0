use projectionist::prelude::*;

#[projection(collection = "users", name = "billing", ddl(mysql = "create table t (id int)"))]
pub struct Billing;

impl Billing {
    #[on_upsert]
    async fn keep(&self, _user: Change<String>) {}
}

fn main() {}
