//! `only(…)` and `soft_delete(…)`: conditions on a document.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitBool, LitInt, LitStr, Token, parenthesized};

/// One condition, `path = literal` or `path in (…)`. With soft deletes also just `path`.
pub(crate) struct Condition {
    path: Vec<String>,
    test: Test,
}

enum Test {
    Set,
    In(Vec<Literal>),
}

enum Literal {
    Text(String),
    Integer(i64),
    Bool(bool),
    Null,
}

impl Condition {
    /// The conditions between the parentheses of `only`.
    pub(crate) fn only(input: ParseStream<'_>) -> syn::Result<Vec<Self>> {
        if input.is_empty() {
            return Err(input.error("expected a condition: `only(type = \"user\")`"));
        }
        let condition = |input: ParseStream<'_>| Self::parse(input, false);
        let all = Punctuated::<_, Token![,]>::parse_terminated_with(input, condition)?;
        Ok(all.into_iter().collect())
    }

    /// The one mark between the parentheses of `soft_delete`.
    pub(crate) fn mark(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Err(input.error("expected the mark: `soft_delete(deletedAt)`"));
        }
        let mark = Self::parse(input, true)?;
        input.parse::<Option<Token![,]>>()?;
        if input.is_empty() {
            Ok(mark)
        } else {
            Err(input.error("`soft_delete` takes one mark"))
        }
    }

    fn parse(input: ParseStream<'_>, bare: bool) -> syn::Result<Self> {
        let (path, tokens) = parse_path(input)?;
        let test = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Test::In(vec![input.parse()?])
        } else if input.peek(Token![in]) {
            input.parse::<Token![in]>()?;
            let list;
            parenthesized!(list in input);
            let literals = Punctuated::<Literal, Token![,]>::parse_terminated(&list)?;
            if literals.is_empty() {
                return Err(list.error("an empty list matches nothing"));
            }
            Test::In(literals.into_iter().collect())
        } else if bare && (input.is_empty() || input.peek(Token![,])) {
            Test::Set
        } else {
            return Err(syn::Error::new_spanned(
                tokens,
                "expected `path = literal` or `path in (literal, …)`",
            ));
        };
        Ok(Self { path, test })
    }
}

/// Field names, with dots between. A name that is not an identifier stands in quotes.
fn parse_path(input: ParseStream<'_>) -> syn::Result<(Vec<String>, TokenStream)> {
    let mut path = Vec::new();
    let mut tokens = TokenStream::new();
    loop {
        if input.peek(LitStr) {
            let name: LitStr = input.parse()?;
            path.push(name.value());
            name.to_tokens(&mut tokens);
        } else if input.peek(Ident::peek_any) {
            let name = input.call(Ident::parse_any)?;
            path.push(name.unraw().to_string());
            name.to_tokens(&mut tokens);
        } else {
            return Err(
                input.error("expected a field's name: `type`, `contact.kind`, `\"my-field\"`")
            );
        }
        if !input.peek(Token![.]) {
            return Ok((path, tokens));
        }
        input.parse::<Token![.]>()?.to_tokens(&mut tokens);
    }
}

impl Parse for Literal {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Text(input.parse::<LitStr>()?.value()));
        }
        if input.peek(LitBool) {
            return Ok(Self::Bool(input.parse::<LitBool>()?.value));
        }
        if input.peek(LitInt) {
            return Ok(Self::Integer(input.parse::<LitInt>()?.base10_parse()?));
        }
        if input.peek(Token![-]) && input.peek2(LitInt) {
            input.parse::<Token![-]>()?;
            let digits: LitInt = input.parse()?;
            let number = format!("-{}", digits.base10_digits());
            return match number.parse() {
                Ok(number) => Ok(Self::Integer(number)),
                Err(error) => Err(syn::Error::new(digits.span(), error)),
            };
        }
        if input.peek(Ident) && input.fork().parse::<Ident>()? == "null" {
            input.parse::<Ident>()?;
            return Ok(Self::Null);
        }
        let found = input
            .fork()
            .parse::<TokenTree>()
            .map_or_else(|_| input.span(), |token| token.span());
        Err(syn::Error::new(
            found,
            "expected a string, a whole number, `true`, `false` or `null`",
        ))
    }
}

impl ToTokens for Condition {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let path = &self.path;
        let test = match &self.test {
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
