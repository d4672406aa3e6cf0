//! Collects every error of one expansion, so that a user sees them all at once.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Records an error that underlines `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Records an error that underlines the attribute.
    pub(crate) fn at_attribute(&mut self, message: impl Display) {
        self.push(syn::Error::new(Span::call_site(), message));
    }

    /// Records an error.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            none => *none = Some(error),
        }
    }

    /// Whether nothing went wrong.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        if let Some(error) = &self.0 {
            tokens.extend(error.to_compile_error());
        }
    }
}
