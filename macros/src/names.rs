//! How generated code names things, and how messages do.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Path;

/// The path to what generated code uses. The module is named after the patch version, so that
/// nobody else can lean on it.
pub(crate) fn private(krate: Option<&Path>) -> TokenStream {
    let module = format_ident!("__private{}", env!("CARGO_PKG_VERSION_PATCH"));
    if let Some(krate) = krate {
        quote!(#krate::#module)
    } else {
        quote!(::projectionist::#module)
    }
}

/// Source text as people write it: `Option<Previous<T>>`, not `Option < Previous < T > >`.
pub(crate) fn text(tokens: impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, tight) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        ("( ", "("),
        (" )", ")"),
    ] {
        text = text.replace(spaced, tight);
    }
    text
}

/// The one of `known` that `word` was probably meant to be.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|known| (strsim::jaro_winkler(word, known), *known))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// ``"`a`, `b` or `c`"``.
pub(crate) fn list(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
