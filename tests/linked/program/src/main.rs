//! Prints the names of all projections that are linked in.

use projectionist::Registry;

fn main() {
    let _linked = projectionist::link!(silent);
    match Registry::collect() {
        Ok(registry) => {
            for def in registry.iter() {
                println!("{}", def.spec.name);
            }
        }
        Err(errors) => {
            for error in errors {
                println!("{error}");
            }
        }
    }
}
