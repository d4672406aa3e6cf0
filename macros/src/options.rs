//! The options between an attribute's parentheses.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Expr, Ident, LitBool, LitInt, LitStr, Path, Token, parenthesized, parse_quote, token};

use crate::condition::{Condition, Mark, Only};
use crate::errors::Errors;

/// The feed mode that a user insists on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    LatestVersion,
    AllVersionsAndDeletes,
}

/// Where a projection begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Now,
    Beginning,
    At(i64),
}

/// The DDL: one file for every database, or one for each.
#[derive(Clone, Default)]
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
    pub(crate) only: Vec<Condition>,
    pub(crate) soft_delete: Option<Condition>,
    pub(crate) start: Option<(Span, Start)>,
    pub(crate) batch: Option<u32>,
    pub(crate) ddl: Option<Ddl>,
    pub(crate) init: Option<Path>,
    pub(crate) register: Option<LitBool>,
    pub(crate) krate: Option<Path>,
}

const PROJECTION_OPTIONS: &[&str] = &[
    "collection",
    "name",
    "mode",
    "only",
    "soft_delete",
    "start",
    "batch",
    "ddl",
    "init",
    "register",
    "crate",
];

const HOOK_OPTIONS: &[&str] = &["only", "crate"];

impl ProjectionOptions {
    /// Reads all options, recording every mistake on the way.
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        each(attr, PROJECTION_OPTIONS, errors, |key, input, errors| {
            options.read(key, input, errors)
        });
        options
    }

    fn read(&mut self, key: &str, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        match key {
            "collection" => self.collection = Some(filled(value(input)?, errors)),
            "name" => {
                let name = value(input)?;
                check_name(&name, errors);
                self.name = Some(name);
            }
            "mode" => self.mode = Some(mode(input)?),
            "only" => self.only = list::<Only>(input)?.0,
            "soft_delete" => self.soft_delete = Some(list::<Mark>(input)?.0),
            "start" => self.start = Some(start(input)?),
            "batch" => self.batch = Some(batch(&value(input)?)?),
            "ddl" => self.ddl = Some(ddl(input)?),
            "init" => self.init = Some(value(input)?),
            "register" => self.register = Some(value(input)?),
            _ => self.krate = Some(value(input)?),
        }
        Ok(())
    }

    /// The path by which generated code reaches the framework.
    pub(crate) fn framework(&self) -> Path {
        self.krate.clone().unwrap_or_else(framework)
    }
}

/// Everything that a hook attribute accepts.
pub(crate) struct HookOptions {
    pub(crate) only: Vec<Condition>,
    pub(crate) framework: Path,
}

impl HookOptions {
    /// Reads all options, recording every mistake on the way.
    pub(crate) fn parse(attr: TokenStream, errors: &mut Errors) -> Self {
        let mut only = Vec::new();
        let mut krate = None;
        each(attr, HOOK_OPTIONS, errors, |key, input, _| {
            match key {
                "only" => only = list::<Only>(input)?.0,
                _ => krate = Some(value(input)?),
            }
            Ok(())
        });
        Self {
            only,
            framework: krate.unwrap_or_else(framework),
        }
    }
}

fn framework() -> Path {
    parse_quote!(::projectionist)
}

/// Reads one option after the other. A mistake inside one does not hide the next.
fn each(
    attr: TokenStream,
    known: &[&str],
    errors: &mut Errors,
    mut read: impl FnMut(&str, ParseStream<'_>, &mut Errors) -> syn::Result<()>,
) {
    let mut seen: Vec<String> = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let name = key.unraw().to_string();
            if !known.contains(&name.as_str()) {
                errors.at(&key, unknown(&name, known));
                skip(input)?;
            } else if seen.contains(&name) {
                errors.at(&key, format!("`{name}` is set twice"));
                skip(input)?;
            } else {
                let result = read(&name, input, errors);
                if errors.ok(result).is_none() {
                    skip(input)?;
                }
                seen.push(name);
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    let result = parser.parse2(attr);
    errors.ok(result);
}

/// Passes over the rest of an option.
fn skip(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// `= value`.
fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// `(…)`.
fn list<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    let inner;
    parenthesized!(inner in input);
    inner.parse()
}

fn unknown(key: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|option| (strsim::jaro_winkler(key, option), option))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, option)) => format!("unknown option `{key}`; did you mean `{option}`?"),
        None => format!(
            "unknown option `{key}`; expected one of {}",
            known.join(", ")
        ),
    }
}

/// Names end up in lease ids, settings and table names, so they stay plain.
fn check_name(name: &LitStr, errors: &mut Errors) {
    let text = name.value();
    let plain = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_'));
    if !plain || text.len() > 63 {
        errors.at(
            name,
            "a projection's name is a lower-case letter, then lower-case letters, digits, `-` or `_`: 63 characters at most",
        );
    }
}

fn filled(text: LitStr, errors: &mut Errors) -> LitStr {
    if text.value().is_empty() {
        errors.at(&text, "a collection's name cannot be empty");
    }
    text
}

fn mode(input: ParseStream<'_>) -> syn::Result<(Span, Mode)> {
    let word: Ident = value(input)?;
    let mode = match word.to_string().as_str() {
        "latest_version" => Mode::LatestVersion,
        "all_versions_and_deletes" => Mode::AllVersionsAndDeletes,
        _ => {
            return Err(syn::Error::new_spanned(
                word,
                "expected `latest_version` or `all_versions_and_deletes`",
            ));
        }
    };
    Ok((word.span(), mode))
}

fn start(input: ParseStream<'_>) -> syn::Result<(Span, Start)> {
    let expected = "expected `now`, `beginning` or a time such as \"2026-11-30T00:00:00Z\"";
    let word: Expr = value(input)?;
    if let Expr::Path(path) = &word {
        if path.path.is_ident("now") {
            return Ok((syn::spanned::Spanned::span(&word), Start::Now));
        }
        if path.path.is_ident("beginning") {
            return Ok((syn::spanned::Spanned::span(&word), Start::Beginning));
        }
    }
    if let Expr::Lit(literal) = &word
        && let syn::Lit::Str(text) = &literal.lit
    {
        return match text.value().parse::<jiff::Timestamp>() {
            Ok(time) => Ok((text.span(), Start::At(time.as_second()))),
            Err(error) => Err(syn::Error::new_spanned(
                text,
                format!("{expected}: {error}"),
            )),
        };
    }
    Err(syn::Error::new_spanned(word, expected))
}

fn batch(number: &LitInt) -> syn::Result<u32> {
    match number.base10_parse::<u32>()? {
        0 => Err(syn::Error::new_spanned(
            number,
            "a page has at least one change",
        )),
        size => Ok(size),
    }
}

fn ddl(input: ParseStream<'_>) -> syn::Result<Ddl> {
    if !input.peek(token::Paren) {
        let file: LitStr = value(input)?;
        return Ok(Ddl {
            sqlite: Some(file.clone()),
            postgres: Some(file),
        });
    }
    let inner;
    parenthesized!(inner in input);
    let mut ddl = Ddl::default();
    while !inner.is_empty() {
        let database: Ident = inner.parse()?;
        let file = Some(value(&inner)?);
        match database.to_string().as_str() {
            "sqlite" => ddl.sqlite = file,
            "postgres" => ddl.postgres = file,
            _ => {
                return Err(syn::Error::new_spanned(
                    database,
                    "expected `sqlite = \"file.sql\"` or `postgres = \"file.sql\"`",
                ));
            }
        }
        if !inner.is_empty() {
            inner.parse::<Token![,]>()?;
        }
    }
    Ok(ddl)
}
