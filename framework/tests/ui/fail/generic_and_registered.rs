use projectionist::prelude::*;

#[projection(collection = "users", name = "billing")]
pub struct Billing<T: Send + Sync + 'static>(std::marker::PhantomData<T>);

fn main() {}
