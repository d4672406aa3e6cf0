//! `#[column(…)]`, on the fields of a row.

use syn::parse::ParseStream;
use syn::{Attribute, Expr, Fields, LitStr, Path, Token};

use crate::errors::Errors;
use crate::options::{each_option, put, table, unknown, value};

/// Everything that `#[column(…)]` accepts.
#[derive(Default)]
pub(super) struct ColumnOptions {
    pub(super) key: bool,
    pub(super) from: Option<LitStr>,
    pub(super) with: Option<Path>,
    pub(super) default: Option<Default>,
    pub(super) each: Option<LitStr>,
    pub(super) table: Option<LitStr>,
}

/// What an absent field is.
pub(super) enum Default {
    /// Its type's own.
    Own,
    /// This.
    Value(Expr),
}

const COLUMN: &[&str] = &["key", "from", "with", "default", "each", "table"];

impl ColumnOptions {
    /// Reads a field's attributes, recording every mistake on the way.
    pub(super) fn read(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        for attr in attrs.iter().filter(|attr| is_column(attr)) {
            let syn::Meta::List(list) = &attr.meta else {
                errors.at(attr, "expected `#[column(…)]` with an option at least");
                continue;
            };
            each_option(list.tokens.clone(), COLUMN, errors, |key, input| match key
                .to_string()
                .as_str()
            {
                "key" if options.key => Err(syn::Error::new_spanned(key, "`key` is set twice")),
                "key" => {
                    options.key = true;
                    Ok(())
                }
                "from" => put(&mut options.from, key, path(input)),
                "with" => put(&mut options.with, key, value(input)),
                "default" => put(&mut options.default, key, default(input)),
                "each" => put(&mut options.each, key, path(input)),
                "table" => put(&mut options.table, key, table(input)),
                _ => Err(unknown(key, COLUMN)),
            });
            options.check(attr, errors);
        }
        options
    }

    fn check(&self, attr: &Attribute, errors: &mut Errors) {
        if !errors.is_empty() {
            return;
        }
        match (&self.each, &self.table) {
            (Some(each), None) => errors.at(each, "`each` needs the name of its table: `table = \"…\"`"),
            (None, Some(table)) => errors.at(
                table,
                "a column has no table of its own; for the items of an array write `each = \"…\", table = \"…\"`",
            ),
            (Some(_), Some(_))
                if self.key || self.from.is_some() || self.with.is_some() || self.default.is_some() =>
            {
                errors.at(attr, "`each` stands with `table` alone: its fields have options of their own");
            }
            _ => {}
        }
    }
}

fn is_column(attr: &Attribute) -> bool {
    attr.path().is_ident("column")
}

/// The fields without the attributes that only this macro understands.
///
/// The first of them.
pub(crate) fn strip(fields: &mut Fields) -> Option<Attribute> {
    let mut first = None;
    for field in fields {
        let column = field.attrs.iter().find(|attr| is_column(attr));
        first = first.or_else(|| column.cloned());
        field.attrs.retain(|attr| !is_column(attr));
    }
    first
}

/// `#[column(crate = …)]` on the struct itself: where the framework is, if it was renamed.
pub(super) fn krate(attrs: &[Attribute], errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    for attr in attrs.iter().filter(|attr| is_column(attr)) {
        let read = attr.parse_args_with(|input: ParseStream<'_>| {
            input.parse::<Token![crate]>()?;
            value(input)
        });
        match read {
            Ok(path) => krate = Some(path),
            Err(_) => errors.at(attr, "on a struct only `#[column(crate = path)]` stands"),
        }
    }
    krate
}

/// Names with dots between.
fn path(input: ParseStream<'_>) -> syn::Result<LitStr> {
    let path: LitStr = value(input)?;
    if path.value().split('.').all(|name| !name.is_empty()) {
        Ok(path)
    } else {
        Err(syn::Error::new_spanned(
            path,
            "a path is field names with dots between: `contact.email`",
        ))
    }
}

fn default(input: ParseStream<'_>) -> syn::Result<Default> {
    if input.peek(Token![=]) {
        value(input).map(Default::Value)
    } else {
        Ok(Default::Own)
    }
}
