//! The hook attributes, on methods.
//!
//! Each re-emits its method untouched and adds two hidden items: a constant that describes the
//! hook, and an async function that takes the arguments out of the context and calls it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, Ident, ReceiverKind, ReturnType, Signature, Type, Visibility};

use crate::errors::Errors;
use crate::names::HookKind;
use crate::options::HookOptions;

/// A method up to its body. The body stays tokens: it may be half typed.
struct Head(Signature);

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let signature = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(Self(signature))
    }
}

pub(crate) fn expand(kind: HookKind, attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = HookOptions::parse(attr, &mut errors);
    // The compiler has its own, better words for a method that does not parse.
    let Ok(Head(signature)) = syn::parse2::<Head>(item.clone()) else {
        return item;
    };
    check(kind, &signature, &mut errors);
    let hook = if errors.is_empty() {
        describe(kind, &signature, &options)
    } else {
        // One mistake is one message: the rest of the expansion stays whole.
        quote!(__p::Hook {
            name: "",
            needs: __p::Needs::NOTHING,
            states: &[],
            databases: &[],
            only: &[]
        })
    };
    let body = if errors.is_empty() {
        call(&signature)
    } else {
        quote!(::core::unreachable!())
    };
    let framework = &options.framework;
    let constant = kind.constant(signature.ident.span());
    let function = kind.call(signature.ident.span());
    // A mistake cannot stand between the items of an impl, so it moves into the constant.
    quote! {
        #[allow(clippy::unused_async)]
        #item

        #[doc(hidden)]
        #[allow(non_upper_case_globals, unreachable_pub)]
        pub const #constant: ::core::option::Option<#framework::__private::Hook> = {
            #[allow(unused_imports)]
            use #framework::__private as __p;
            #errors
            ::core::option::Option::Some(#hook)
        };

        #[doc(hidden)]
        #[allow(unreachable_pub, unused_variables, unused_mut, clippy::all, clippy::pedantic)]
        pub async fn #function<'__cx>(
            &'__cx self,
            mut __cx: #framework::__private::HookCx<'__cx>,
        ) -> #framework::__private::Answer {
            #[allow(unused_imports)]
            use #framework::__private as __p;
            #body
        }
    }
}

fn check(kind: HookKind, signature: &Signature, errors: &mut Errors) {
    if signature.asyncness.is_none() {
        errors.at(
            signature.fn_token,
            format!("a `#[{}]` hook is an `async fn`", kind.attribute()),
        );
    }
    if !signature.generics.params.is_empty() {
        errors.at(&signature.generics, "a hook can't be generic");
    }
    if let Some(receiver) = signature.receiver()
        && !matches!(receiver.kind, ReceiverKind::Reference(_, _, None))
    {
        errors.at(
            receiver,
            "a hook borrows its projection as `&self`: changes of several ranges run at once",
        );
    }
}

fn arguments(signature: &Signature) -> Vec<&Type> {
    signature
        .inputs
        .iter()
        .filter_map(|argument| match argument {
            FnArg::Typed(argument) => Some(&*argument.ty),
            FnArg::Receiver(_) => None,
        })
        .collect()
}

/// The value of the hidden constant, with the checks that only the compiler can make.
fn describe(kind: HookKind, signature: &Signature, options: &HookOptions) -> TokenStream {
    let name = signature.ident.to_string();
    let only = &options.only;
    let types = arguments(signature);
    let variant = kind.variant();
    let given = types.iter().map(|ty| {
        let shown = shown(ty);
        let more = match kind {
            HookKind::Delete | HookKind::Expire if shown.starts_with("Change<") => {
                format!(" or `{}`", shown.replacen("Change<", "Deleted<", 1))
            }
            _ => String::new(),
        };
        let message = format!(
            "`#[{}]` can't always give `{shown}`: take `Option<{shown}>`{more}",
            kind.attribute()
        );
        quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(
                <#ty as __p::Extract<'_>>::KINDS.contains(__p::Kind::#variant),
                #message
            );
        }
    });
    let needs = types
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> .and(<#ty as __p::Extract<'_>>::NEEDS)));
    let states = types
        .iter()
        .map(|ty| quote!(<#ty as __p::Extract<'_>>::STATE));
    let databases = types
        .iter()
        .map(|ty| quote!(<#ty as __p::Extract<'_>>::DATABASE));
    quote! {{
        #(#given)*
        __p::Hook {
            name: #name,
            needs: __p::Needs::NOTHING #(#needs)*,
            states: const { &[#(#states),*] },
            databases: const { &[#(#databases),*] },
            only: &[#(#only),*],
        }
    }}
}

/// The body of the hidden function.
fn call(signature: &Signature) -> TokenStream {
    let method = &signature.ident;
    let types = arguments(signature);
    let names: Vec<Ident> = (0..types.len())
        .map(|index| format_ident!("__argument{index}", span = Span::mixed_site()))
        .collect();
    let extract = types.iter().zip(&names).map(|(ty, name)| {
        quote_spanned! {ty.span()=>
            let #name = match <#ty as __p::Extract<'_>>::extract(&mut __cx) {
                ::core::result::Result::Ok(argument) => argument,
                ::core::result::Result::Err(error) => {
                    return ::core::result::Result::Err(__p::Failure::Argument(error));
                }
            };
        }
    });
    let this = signature.receiver().map(|_| quote!(self,));
    let output = match &signature.output {
        ReturnType::Default => method.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let verdict = quote_spanned!(output=> __p::IntoVerdict::into_verdict);
    quote! {
        #(#extract)*
        #verdict(Self::#method(#this #(#names),*).await).map_err(__p::Failure::Hook)
    }
}

/// A type as a user would write it.
fn shown(ty: &Type) -> String {
    ty.to_token_stream()
        .to_string()
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace(" ,", ",")
        .replace("< '", "<'")
        .replace(" :: ", "::")
}
