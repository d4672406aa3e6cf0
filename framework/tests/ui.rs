//! What the compiler says of mistakes: one mistake a file, and one error for it.
//!
//! `TRYBUILD=overwrite cargo test -p projectionist --test ui` writes the expected texts anew.

#[test]
fn mistakes() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
