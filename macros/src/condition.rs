//! `only(…)` and `soft_delete(…)`: conditions on a document.

use std::fmt::{self, Display, Formatter};

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
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

pub(crate) enum Literal {
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
        if input.peek(Token![==]) {
            let message = format!("write `=`: {GRAMMAR}");
            return Err(syn::Error::new_spanned(
                input.parse::<Token![==]>()?,
                message,
            ));
        }
        if let Some(operator) = comparison(input) {
            return Err(syn::Error::new_spanned(operator, GRAMMAR));
        }
        let literals = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            vec![input.parse()?]
        } else if input.peek(Token![in]) {
            input.parse::<Token![in]>()?;
            let list;
            parenthesized!(list in input);
            let literals = Punctuated::<Literal, Token![,]>::parse_terminated(&list)?;
            if literals.is_empty() {
                return Err(list.error("an empty list matches nothing"));
            }
            literals.into_iter().collect()
        } else if bare && (input.is_empty() || input.peek(Token![,])) {
            let test = Test::Set;
            return Ok(Self { path, test });
        } else {
            return Err(syn::Error::new_spanned(
                tokens,
                "expected `path = literal` or `path in (literal, …)`",
            ));
        };
        if let Some(operator) = and(&input.fork()) {
            return Err(syn::Error::new_spanned(
                operator,
                "expected `,`: conditions stand in a list, and every one must hold",
            ));
        }
        if let Some(operator) = or(&input.fork()) {
            let message = match alternatives(&path, &literals, &input.fork()) {
                Some(list) => format!("expected `,`; for one of several values write `{list}`"),
                None => GRAMMAR.to_owned(),
            };
            return Err(syn::Error::new_spanned(operator, message));
        }
        let test = Test::In(literals);
        Ok(Self { path, test })
    }
}

/// The way out for whoever expected more of a condition.
const GRAMMAR: &str = "a condition is `path = literal` or `path in (literal, …)`; \
                       test anything else in the hook, and return `Verdict::Skip`";

/// An operator that people expect to join conditions, and for which there is the comma.
fn and(input: ParseStream<'_>) -> Option<TokenStream> {
    if input.peek(Token![&&]) {
        operator::<Token![&&]>(input)
    } else if input.peek(Token![&]) {
        operator::<Token![&]>(input)
    } else {
        word(input, "and")
    }
}

/// An operator that people expect between alternatives.
fn or(input: ParseStream<'_>) -> Option<TokenStream> {
    if input.peek(Token![||]) {
        operator::<Token![||]>(input)
    } else if input.peek(Token![|]) {
        operator::<Token![|]>(input)
    } else {
        word(input, "or")
    }
}

/// An operator that people expect to compare.
fn comparison(input: ParseStream<'_>) -> Option<TokenStream> {
    if input.peek(Token![!=]) {
        operator::<Token![!=]>(input)
    } else if input.peek(Token![<=]) {
        operator::<Token![<=]>(input)
    } else if input.peek(Token![>=]) {
        operator::<Token![>=]>(input)
    } else if input.peek(Token![<]) {
        operator::<Token![<]>(input)
    } else if input.peek(Token![>]) {
        operator::<Token![>]>(input)
    } else {
        None
    }
}

fn operator<T: Parse + ToTokens>(input: ParseStream<'_>) -> Option<TokenStream> {
    input.parse::<T>().ok().map(ToTokens::into_token_stream)
}

fn word(input: ParseStream<'_>, expected: &str) -> Option<TokenStream> {
    let found: Ident = input.parse().ok()?;
    (found == expected).then(|| found.into_token_stream())
}

/// The list that `type = "a" or "b"` and `type = "a" or type = "b"` stand for, if what follows the
/// first values is no more than that.
fn alternatives(path: &[String], first: &[Literal], input: ParseStream<'_>) -> Option<String> {
    let mut values: Vec<_> = first.iter().map(ToString::to_string).collect();
    while !input.is_empty() && !input.peek(Token![,]) {
        or(input)?;
        let ahead = input.fork();
        if let Ok((other, _)) = parse_path(&ahead)
            && ahead.peek(Token![=])
        {
            if other != path {
                return None;
            }
            parse_path(input).ok()?;
            if input.peek(Token![==]) {
                input.parse::<Token![==]>().ok()?;
            } else {
                input.parse::<Token![=]>().ok()?;
            }
        }
        values.push(input.parse::<Literal>().ok()?.to_string());
    }
    let path: Vec<_> = path.iter().map(|name| spelling(name)).collect();
    Some(format!("{} in ({})", path.join("."), values.join(", ")))
}

/// A field's name as it stands in a path.
fn spelling(name: &str) -> String {
    if Ident::parse_any.parse_str(name).is_ok() {
        name.to_owned()
    } else {
        format!("{name:?}")
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

/// As people write it.
impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Null => f.write_str("null"),
        }
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
