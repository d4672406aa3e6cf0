//! The options between an attribute's parentheses.

use std::path::Path as FilePath;

use jiff::Timestamp;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Expr, Ident, LitBool, LitInt, LitStr, Path, Token, parenthesized};

use crate::condition::Condition;
use crate::errors::Errors;
use crate::names;

/// The feed mode that a user insists on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    LatestVersion,
    AllVersionsAndDeletes,
}

/// Where to begin to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Now,
    Beginning,
    At(i64),
}

/// DDL for each database.
#[derive(Default)]
pub(crate) struct Ddl {
    pub(crate) sqlite: Option<LitStr>,
    pub(crate) postgres: Option<LitStr>,
}

/// Everything that `#[projection(…)]` accepts.
#[derive(Default)]
pub(crate) struct ProjectionOptions {
    pub(crate) collection: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) mode: Option<(Span, Mode)>,
    pub(crate) only: Option<Vec<Condition>>,
    pub(crate) soft_delete: Option<(Span, Condition)>,
    pub(crate) start: Option<(Span, Start)>,
    pub(crate) batch: Option<u32>,
    pub(crate) ddl: Option<Ddl>,
    pub(crate) table: Option<LitStr>,
    pub(crate) init: Option<Expr>,
    pub(crate) register: Option<bool>,
    pub(crate) krate: Option<Path>,
}

/// Everything that `#[on_…(…)]` accepts.
#[derive(Default)]
pub(crate) struct HookOptions {
    pub(crate) only: Option<Vec<Condition>>,
    pub(crate) krate: Option<Path>,
}

const PROJECTION: &[&str] = &[
    "collection",
    "name",
    "mode",
    "only",
    "soft_delete",
    "start",
    "batch",
    "ddl",
    "table",
    "init",
    "register",
    "crate",
];
const HOOK: &[&str] = &["only", "crate"];

impl ProjectionOptions {
    /// Reads all options, recording every mistake on the way.
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        each_option(attr, PROJECTION, errors, |key, input| {
            match key.unraw().to_string().as_str() {
                "collection" => put(&mut options.collection, key, collection(input)),
                "name" => put(&mut options.name, key, name(input)),
                "mode" => put(&mut options.mode, key, mode(input)),
                "only" => put(&mut options.only, key, group(input, Condition::only)),
                "soft_delete" => {
                    let mark = group(input, Condition::mark);
                    put(
                        &mut options.soft_delete,
                        key,
                        mark.map(|mark| (key.span(), mark)),
                    )
                }
                "start" => put(&mut options.start, key, start(input)),
                "batch" => put(&mut options.batch, key, batch(input)),
                "ddl" => put(&mut options.ddl, key, ddl(input)),
                "table" => put(&mut options.table, key, table(input)),
                "init" => put(&mut options.init, key, value(input)),
                "register" => {
                    let flag = value::<LitBool>(input).map(|flag| flag.value);
                    put(&mut options.register, key, flag)
                }
                "crate" => put(&mut options.krate, key, value(input)),
                _ => Err(unknown(key, PROJECTION)),
            }
        });
        options
    }
}

impl HookOptions {
    /// Reads all options, recording every mistake on the way.
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        each_option(attr, HOOK, errors, |key, input| {
            let word = key.unraw().to_string();
            match word.as_str() {
                "only" => put(&mut options.only, key, group(input, Condition::only)),
                "crate" => put(&mut options.krate, key, value(input)),
                _ if PROJECTION.contains(&word.as_str()) => Err(syn::Error::new_spanned(
                    key,
                    format!(
                        "`{word}` is an option of the whole projection: put it on `#[projection(…)]`"
                    ),
                )),
                _ => Err(unknown(key, HOOK)),
            }
        });
        options
    }
}

/// Calls `read` for each option. After a mistake it goes on behind the next comma.
pub(crate) fn each_option(
    attr: TokenStream,
    known: &[&str],
    errors: &mut Errors,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) {
    let mut option = |input: ParseStream<'_>| {
        if !input.peek(Ident::peek_any) {
            return Err(input.error(format!("expected an option: {}", names::list(known))));
        }
        let key = input.call(Ident::parse_any)?;
        read(&key, input)?;
        if input.is_empty() || input.peek(Token![,]) {
            Ok(())
        } else {
            Err(input.error(format!("expected `,` after `{key}`")))
        }
    };
    let all = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = option(input) {
                errors.push(error);
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = all.parse2(attr) {
        errors.push(error);
    }
}

pub(crate) fn unknown(key: &Ident, known: &[&str]) -> syn::Error {
    let hint = match names::nearest(&key.unraw().to_string(), known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected {}", names::list(known)),
    };
    syn::Error::new_spanned(key, format!("unknown option `{key}`; {hint}"))
}

/// Sets an option, once.
pub(crate) fn put<T>(slot: &mut Option<T>, key: &Ident, value: syn::Result<T>) -> syn::Result<()> {
    if slot.replace(value?).is_some() {
        return Err(syn::Error::new_spanned(
            key,
            format!("`{key}` is set twice"),
        ));
    }
    Ok(())
}

/// `= value`.
pub(crate) fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `(…)`.
fn group<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let content;
    parenthesized!(content in input);
    let read = read(&content);
    if read.is_err() {
        // What is left over would be a second error for one mistake.
        content.parse::<TokenStream>()?;
    }
    read
}

fn collection(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let collection: LitStr = value(input)?;
    if collection.value().trim().is_empty() {
        return Err(syn::Error::new_spanned(
            collection,
            "a collection has a name: the one under `[collections]` in the settings",
        ));
    }
    Ok(collection)
}

/// A name ends up in stored rows, settings and command lines, so it stays plain.
fn name(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let name: LitStr = value(input)?;
    let text = name.value();
    let plain = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= 64
        && text
            .chars()
            .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_'));
    if plain {
        Ok(name)
    } else {
        Err(syn::Error::new_spanned(
            name,
            "a projection's name is a lower-case letter, then letters, digits, `-` and `_`, 64 at most",
        ))
    }
}

/// The name of a table: it is quoted wherever it stands, but must fit every database.
pub(crate) fn table(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let table: LitStr = value(input)?;
    let name = table.value();
    if name.is_empty()
        || name.len() > 63
        || name.contains('\0')
        || name.starts_with("projectionist")
    {
        return Err(syn::Error::new_spanned(
            table,
            "a table's name has 1 to 63 bytes and does not begin with `projectionist`",
        ));
    }
    Ok(table)
}

fn mode(input: ParseStream<'_>) -> syn::Result<(Span, Mode)> {
    const WORDS: &[&str] = &["latest_version", "all_versions_and_deletes"];
    let word: TokenTree = value(input)?;
    let mode = match word.to_string().as_str() {
        "latest_version" => Mode::LatestVersion,
        "all_versions_and_deletes" => Mode::AllVersionsAndDeletes,
        other => {
            let message = match names::nearest(other.trim_matches('"'), WORDS) {
                Some(near) => format!("not a mode; did you mean `{near}`?"),
                None => format!("not a mode; expected {}", names::list(WORDS)),
            };
            return Err(syn::Error::new_spanned(word, message));
        }
    };
    Ok((word.span(), mode))
}

fn start(input: ParseStream<'_>) -> syn::Result<(Span, Start)> {
    const WORDS: &[&str] = &["now", "beginning"];
    const EXPECTED: &str = "expected `now`, `beginning` or a time such as \"2026-01-31T00:00:00Z\"";
    input.parse::<Token![=]>()?;
    if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        let value = text.value();
        let time: Timestamp = value.parse().map_err(|error| {
            let hint = match names::nearest(&value.to_lowercase(), WORDS) {
                Some(near) => format!("did you mean `{near}`, without quotes?"),
                None => EXPECTED.to_owned(),
            };
            syn::Error::new_spanned(&text, format!("{hint} (as a time: {error})"))
        })?;
        if time.subsec_nanosecond() != 0 {
            return Err(syn::Error::new_spanned(
                text,
                "a change feed's times are whole seconds",
            ));
        }
        return Ok((text.span(), Start::At(time.as_second())));
    }
    let word: TokenTree = input.parse()?;
    match word.to_string().as_str() {
        "now" => Ok((word.span(), Start::Now)),
        "beginning" => Ok((word.span(), Start::Beginning)),
        other => {
            let message = match names::nearest(&other.to_lowercase(), WORDS) {
                Some(near) => format!("not a start; did you mean `{near}`?"),
                None => EXPECTED.to_owned(),
            };
            Err(syn::Error::new_spanned(word, message))
        }
    }
}

fn batch(input: ParseStream<'_>) -> syn::Result<u32> {
    let number: LitInt = value(input)?;
    match number.base10_parse::<u32>() {
        Ok(batch @ 1..) => Ok(batch),
        _ => Err(syn::Error::new_spanned(
            number,
            "a page holds at least one change, and fewer than 2³²",
        )),
    }
}

fn ddl(input: ParseStream<'_>) -> syn::Result<Ddl> {
    if input.peek(Token![=]) {
        let both: LitStr = value(input).and_then(script)?;
        return Ok(Ddl {
            sqlite: Some(both.clone()),
            postgres: Some(both),
        });
    }
    if !input.peek(syn::token::Paren) {
        return Err(input.error(DDL));
    }
    group(input, |input| {
        let mut ddl = Ddl::default();
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let script = value(input).and_then(script);
            match key.to_string().as_str() {
                "sqlite" => put(&mut ddl.sqlite, &key, script)?,
                "postgres" => put(&mut ddl.postgres, &key, script)?,
                _ => return Err(unknown(&key, &["sqlite", "postgres"])),
            }
            input.parse::<Option<Token![,]>>()?;
        }
        if ddl.sqlite.is_none() && ddl.postgres.is_none() {
            return Err(input.error(DDL));
        }
        Ok(ddl)
    })
}

const DDL: &str = "expected `ddl = \"file.sql\"` or `ddl(sqlite = \"…\", postgres = \"…\")`";

/// A file ends in `.sql`; whatever else is written here is SQL, and SQL has spaces.
fn script(text: LitStr) -> syn::Result<LitStr> {
    let script = text.value();
    if is_file(&script) || script.trim().contains(char::is_whitespace) {
        Ok(text)
    } else {
        Err(syn::Error::new(
            text.span(),
            "neither a file ending in `.sql` nor SQL",
        ))
    }
}

/// Whether a script is the path of a file.
pub(crate) fn is_file(script: &str) -> bool {
    let script = FilePath::new(script);
    script.extension().is_some_and(|kind| kind == "sql")
}
