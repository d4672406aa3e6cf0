//! `only(type = "user", kind in ("a", "b"))` and `soft_delete(deletedAt)`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitBool, LitInt, LitStr, Path, Token, parenthesized};

/// One condition of a filter.
pub(crate) struct Condition {
    path: Vec<String>,
    test: Test,
}

enum Test {
    Set,
    In(Vec<Literal>),
}

enum Literal {
    Text(LitStr),
    Integer(TokenStream),
    Bool(LitBool),
    Null,
}

/// The conditions of `only(…)`.
pub(crate) struct Only(pub(crate) Vec<Condition>);

/// The one condition of `soft_delete(…)`, whose value may be left out.
pub(crate) struct Mark(pub(crate) Condition);

impl Parse for Only {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let conditions = Punctuated::<Condition, Token![,]>::parse_terminated(input)?;
        if conditions.is_empty() {
            return Err(input.error("expected a condition: `only(type = \"user\")`"));
        }
        for condition in &conditions {
            if matches!(condition.test, Test::Set) {
                return Err(input.error(format!(
                    "`{}` needs a value: `{0} = \"…\"` or `{0} in (\"…\", \"…\")`",
                    condition.path.join(".")
                )));
            }
        }
        Ok(Self(conditions.into_iter().collect()))
    }
}

impl Parse for Mark {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(input.error(
                "expected the mark of a deleted document: `deleted`, `deletedAt`, or `status = \"gone\"`",
            ));
        }
        let condition = input.parse()?;
        if !input.is_empty() {
            return Err(input.error("`soft_delete` takes one condition"));
        }
        Ok(Self(condition))
    }
}

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut path = vec![name(input)?];
        while input.parse::<Option<Token![.]>>()?.is_some() {
            path.push(name(input)?);
        }
        let test = if input.parse::<Option<Token![=]>>()?.is_some() {
            Test::In(vec![input.parse()?])
        } else if input.parse::<Option<Token![in]>>()?.is_some() {
            let list;
            parenthesized!(list in input);
            let literals = Punctuated::<Literal, Token![,]>::parse_terminated(&list)?;
            if literals.is_empty() {
                return Err(list.error("expected at least one value"));
            }
            Test::In(literals.into_iter().collect())
        } else {
            Test::Set
        };
        Ok(Self { path, test })
    }
}

/// A field's name, which may be one of Rust's keywords, or a string where it is no identifier.
fn name(input: ParseStream<'_>) -> syn::Result<String> {
    if input.peek(LitStr) {
        return Ok(input.parse::<LitStr>()?.value());
    }
    Ok(input.call(Ident::parse_any)?.unraw().to_string())
}

impl Parse for Literal {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let expected = "expected a string, a whole number, `true`, `false` or `null`";
        if input.peek(Ident) && !input.peek(LitBool) {
            let word: Path = input.parse()?;
            if word.is_ident("null") {
                return Ok(Self::Null);
            }
            return Err(syn::Error::new_spanned(word, expected));
        }
        let minus = input.parse::<Option<Token![-]>>()?;
        match input.parse()? {
            Lit::Int(number) => {
                let number: LitInt = number;
                number.base10_parse::<i64>()?;
                Ok(Self::Integer(quote!(#minus #number)))
            }
            Lit::Str(text) if minus.is_none() => Ok(Self::Text(text)),
            Lit::Bool(flag) if minus.is_none() => Ok(Self::Bool(flag)),
            other => Err(syn::Error::new_spanned(other, expected)),
        }
    }
}

impl ToTokens for Condition {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { path, test } = self;
        let test = match test {
            Test::Set => quote!(__p::Test::Set),
            Test::In(literals) => quote!(__p::Test::In(&[#(#literals),*])),
        };
        tokens.extend(quote!(__p::Condition { path: &[#(#path),*], test: #test }));
    }
}

impl ToTokens for Literal {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Text(text) => quote!(__p::Literal::Text(#text)),
            Self::Integer(number) => quote!(__p::Literal::Integer(#number)),
            Self::Bool(flag) => quote!(__p::Literal::Bool(#flag)),
            Self::Null => quote!(__p::Literal::Null),
        });
    }
}
