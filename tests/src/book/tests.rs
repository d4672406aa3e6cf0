use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
        .to_owned()
}

/// The chapters' files, as the summary lists them.
fn chapters() -> Vec<PathBuf> {
    let folder = root().join("book/src");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).expect("there is a summary");
    let chapters: Vec<_> = links(&summary)
        .into_iter()
        .map(|target| folder.join(target))
        .collect();
    assert!(chapters.len() >= 8, "{chapters:?}");
    chapters
}

/// All texts that people read.
fn texts() -> Vec<PathBuf> {
    let mut texts = chapters();
    texts.push(root().join("book/src/SUMMARY.md"));
    for name in [
        "README",
        "ARCHITECTURE",
        "CONTRIBUTING",
        "CHANGELOG",
        "ROADMAP",
    ] {
        texts.push(root().join(format!("{name}.md")));
    }
    texts
}

/// A text with its blocks of code blanked out, so that no link is seen in them.
fn prose(text: &str) -> String {
    let mut code = false;
    let keep = |line: &str| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        if code || fence {
            String::new()
        } else {
            inline(line)
        }
    };
    text.lines().map(keep).collect::<Vec<_>>().join("\n")
}

/// A line without what stands between backticks.
fn inline(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The targets of a text's links.
fn links(text: &str) -> Vec<String> {
    prose(text)
        .split("](")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
        .collect()
}

/// The anchors of a text's headings, as mdbook and GitHub make them.
fn anchors(text: &str) -> Vec<String> {
    prose_keeping_code(text)
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = |character: char| character.is_alphanumeric() || " -_".contains(character);
            heading
                .chars()
                .filter(|character| kept(*character))
                .collect::<String>()
                .replace(' ', "-")
        })
        .collect()
}

fn prose_keeping_code(text: &str) -> String {
    let mut code = false;
    text.lines()
        .filter(|line| {
            let fence = line.starts_with("```");
            code ^= fence;
            !code && !fence
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Blocks of code: the words after the fence, and the lines.
fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(words), None) => open = Some((words.to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of code is not closed");
    blocks
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    let mut seen = 0;
    for file in texts() {
        let text = fs::read_to_string(&file).expect("the summary names files that exist");
        for link in links(&text) {
            seen += 1;
            if link.starts_with("https://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() {
                file.clone()
            } else {
                file.parent().expect("it is a file").join(path)
            };
            let found = target.exists()
                && (anchor.is_empty()
                    || fs::read_to_string(&target)
                        .is_ok_and(|text| anchors(&text).iter().any(|known| known == anchor)));
            if !found {
                dead.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(seen > 20, "only {seen} links were found");
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn every_chapter_is_compiled() {
    let compiled = include_str!("../book.rs");
    for chapter in chapters() {
        let name = chapter.file_name().expect("it is a file").to_string_lossy();
        assert!(
            compiled.contains(&format!("book/src/{name}\"")),
            "{name} is not in tests/src/book.rs"
        );
    }
    let files = fs::read_dir(root().join("book/src")).expect("there is a book");
    assert_eq!(
        files.count(),
        chapters().len() + 1,
        "a file is not in the summary"
    );
}

/// What is not compiled as a doctest must be compiled where it is included from.
#[test]
fn rust_is_compiled_or_included() {
    let mut seen = 0;
    for chapter in chapters() {
        let text = fs::read_to_string(&chapter).expect("it exists");
        for (words, lines) in blocks(&text) {
            let included = lines.len() == 1 && lines[0].starts_with("{{#include ");
            if words.starts_with("rust") && !included {
                let name = chapter.display();
                assert!(
                    !words.contains("ignore"),
                    "{name}: a block that nobody compiles:\n{}",
                    lines.join("\n")
                );
            }
            for line in lines.iter().filter(|line| line.contains("{{#")) {
                include(&chapter, line);
                seen += 1;
            }
        }
    }
    assert!(seen >= 4, "only {seen} includes were found");
}

/// An include must name a file that exists, and an anchor in it.
fn include(chapter: &Path, line: &str) {
    let target = line
        .strip_prefix("{{#include ")
        .and_then(|rest| rest.strip_suffix("}}"))
        .unwrap_or_else(|| panic!("{}: {line} is no include", chapter.display()));
    let (path, anchor) = target.split_once(':').unwrap_or((target, ""));
    let file = chapter.parent().expect("it is a file").join(path);
    let text =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    if !anchor.is_empty() {
        assert!(
            text.contains(&format!("ANCHOR: {anchor}\n")),
            "{target} has no such anchor"
        );
        assert!(
            text.contains(&format!("ANCHOR_END: {anchor}\n")),
            "{target} has no end of its anchor"
        );
    }
}

/// The README shows the heads of examples. They must be the examples'.
#[test]
fn the_readme_shows_the_example() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let shown: Vec<_> = blocks(&readme)
        .into_iter()
        .filter(|(words, _)| words.starts_with("rust"))
        .collect();
    let examples = ["order_totals.rs", "orders.rs"];
    assert_eq!(shown.len(), examples.len());
    for ((_, shown), file) in shown.into_iter().zip(examples) {
        let example = fs::read_to_string(root().join("examples/cosmicworks/src").join(file))
            .expect("there is an example");
        for line in shown {
            let line = line.replace("/* … */ }", "");
            assert!(
                example.contains(line.trim_end()),
                "{file} has no line `{line}`"
            );
        }
    }
}

#[test]
fn the_checker_sees_what_is_there() {
    let text = "# One `two`: three\n[a](b.md#c) `[no](x)`\n```text\n[no](y)\n```\n[d](#e)";
    assert_eq!(links(text), ["b.md#c", "#e"]);
    assert_eq!(anchors(text), ["one-two-three"]);
    let code = blocks("```rust,x\nlet a;\n```\n");
    assert_eq!(code, [("rust,x".to_owned(), vec!["let a;".to_owned()])]);
}

#[test]
fn tables_are_those_of_the_code() {
    up_to_date(
        "settings.md",
        "settings",
        &projectionist_runtime::config::reference(),
    );
    up_to_date(
        "errors.md",
        "errors",
        &projectionist_runtime::problem::codes::reference(),
    );
}

/// Holds the part of a chapter between its marks against what the code says; writes it anew where asked to.
fn up_to_date(chapter: &str, name: &str, fresh: &str) {
    let file = root().join("book/src").join(chapter);
    let text = fs::read_to_string(&file).expect("it exists");
    let mark = format!("<!-- {name}: made from the code -->\n");
    let (before, rest) = text.split_once(&mark).expect("the chapter has the mark");
    let (table, after) = rest
        .split_once("<!-- end -->")
        .expect("the mark has an end");
    let fresh = format!("\n{}\n\n", fresh.trim());
    if std::env::var_os("UPDATE_BOOK").is_some() {
        fs::write(&file, format!("{before}{mark}{fresh}<!-- end -->{after}"))
            .expect("it can be written");
    } else {
        assert_eq!(
            table, fresh,
            "{chapter} is stale: run `UPDATE_BOOK=1 cargo test -p projectionist-tests book`"
        );
    }
}
