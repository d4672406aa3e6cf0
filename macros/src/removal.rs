//! `#[on_delete(…)]` on a row projection: what a delete does to the row.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, Token, parenthesized};

use crate::condition::Literal;
use crate::errors::Errors;
use crate::names;
use crate::row::RowFields;

/// What a delete does.
pub(crate) struct Removal {
    pub(crate) span: Span,
    /// None: the row goes. Else it stays, and these columns become these values.
    set: Option<Vec<(Ident, Literal)>>,
}

const FORMS: &str = "expected `#[on_delete(remove)]` or `#[on_delete(set(active = false))]`";

/// Takes `#[on_delete(…)]` off a struct.
pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Removal> {
    let mut removal = None;
    attrs.retain(|attr| {
        if !is_on_delete(attr) {
            return true;
        }
        match attr.parse_args_with(|input: ParseStream<'_>| parse(attr.span(), input)) {
            Ok(_) if removal.is_some() => errors.at(attr, "`on_delete` stands twice"),
            Ok(found) => removal = Some(found),
            Err(error) => errors.push(error),
        }
        false
    });
    removal
}

fn is_on_delete(attr: &Attribute) -> bool {
    let last = attr.path().segments.last();
    last.is_some_and(|last| last.ident == "on_delete")
}

fn parse(span: Span, input: ParseStream<'_>) -> syn::Result<Removal> {
    let word: Ident = input
        .call(Ident::parse_any)
        .map_err(|error| syn::Error::new(error.span(), FORMS))?;
    let set = match word.to_string().as_str() {
        "remove" => None,
        "set" => {
            let content;
            parenthesized!(content in input);
            let mut set = Vec::new();
            while !content.is_empty() {
                let column = content.call(Ident::parse_any)?;
                content.parse::<Token![=]>()?;
                set.push((column, content.parse()?));
                content.parse::<Option<Token![,]>>()?;
            }
            if set.is_empty() {
                return Err(syn::Error::new_spanned(word, FORMS));
            }
            Some(set)
        }
        _ => return Err(syn::Error::new_spanned(word, FORMS)),
    };
    if input.is_empty() {
        Ok(Removal { span, set })
    } else {
        Err(input.error(FORMS))
    }
}

impl Removal {
    /// Checks that the columns are there.
    pub(crate) fn check(&self, row: &RowFields, errors: &mut Errors) {
        for (column, _) in self.set.iter().flatten() {
            let name = column.unraw().to_string();
            match row.column(&name) {
                Some(false) => {}
                Some(true) => errors.at(
                    column,
                    "a key says whose row it is, so a delete can't set it",
                ),
                None => {
                    let columns = row.names();
                    let columns: Vec<_> = columns.iter().map(String::as_str).collect();
                    let hint = match names::nearest(&name, &columns) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there are {}", names::list(&columns)),
                    };
                    errors.at(column, format!("the row has no column `{name}`; {hint}"));
                }
            }
        }
    }

    /// The framework's value.
    pub(crate) fn value(removal: Option<&Self>) -> TokenStream {
        match removal.and_then(|removal| removal.set.as_ref()) {
            None => quote!(__p::OnDelete::Remove),
            Some(set) => {
                let set = set.iter().map(|(column, value)| {
                    let name = column.unraw().to_string();
                    quote!((#name, #value))
                });
                quote!(__p::OnDelete::Set(&[#(#set),*]))
            }
        }
    }
}
