//! `cargo xtask book`: builds the book with a pinned mdbook.
//!
//! The code in the book is compiled by `cargo test`, not here: each block is a doctest of
//! `tests/src/book.rs` or an include from the examples.

use std::io;
use std::path::PathBuf;

use crate::command::{call, cargo, output, root, succeeds, target};

const VERSION: &str = "0.5.4";

/// Builds the book. Says whether mdbook succeeded.
pub(crate) fn run() -> io::Result<bool> {
    let mdbook = mdbook()?;
    let book = target().join("book");
    let built = succeeds(&mut call(
        mdbook,
        &["build", "book", "--dest-dir", &book.to_string_lossy()],
    ))?;
    if built {
        println!("{}", book.join("index.html").display());
    }
    Ok(built)
}

/// The mdbook to use: the machine's where its version fits, else one built into `target/tools`.
fn mdbook() -> io::Result<PathBuf> {
    let tools = target().join("tools");
    let own = tools
        .join("bin")
        .join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    for program in [PathBuf::from("mdbook"), own.clone()] {
        if output(&mut call(&program, &["--version"]))
            .is_ok_and(|text| text.trim() == format!("mdbook v{VERSION}"))
        {
            return Ok(program);
        }
    }
    eprintln!("building mdbook {VERSION} into {}, once", tools.display());
    // Without search, serving and watching, and unoptimised: it has a few pages to render.
    let installed = succeeds(
        cargo(&[
            "install",
            "mdbook",
            "--version",
            VERSION,
            "--locked",
            "--no-default-features",
            "--debug",
            "--force",
        ])
        .arg("--root")
        .arg(&tools)
        .env("CARGO_TARGET_DIR", tools.join("build"))
        // Away from the workspace, whose toolchain file still holds, but not its settings.
        .current_dir(root().join("book")),
    )?;
    if installed {
        // Hundreds of megabytes that nobody needs again.
        std::fs::remove_dir_all(tools.join("build"))?;
        Ok(own)
    } else {
        Err(io::Error::other(format!(
            "mdbook {VERSION} could not be installed"
        )))
    }
}
