//! `tests/cli/*.md`, played on real binaries. `TRYCMD=overwrite cargo test --test cli` writes them anew.

use super::program;

#[test]
fn transcripts() {
    let cases = trycmd::TestCases::new();
    for (name, path) in program::ALL {
        cases.register_bin(name, std::path::Path::new(path));
    }
    cases.env("PROJECTOR_LOG", "off");
    cases.case("cli/*.md");
}
