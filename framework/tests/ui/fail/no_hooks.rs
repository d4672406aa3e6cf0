use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing;

impl Billing {
    pub fn nothing(&self) {}
}

fn main() {}
