//! The hook attributes, on methods.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Attribute, FnArg, Ident, ReceiverKind, ReturnType, Signature, Type, Visibility};

use crate::errors::Errors;
use crate::kind::HookKind;
use crate::names;
use crate::options::HookOptions;

/// The part of a method before its body. The body stays tokens: it may be half typed.
struct Head {
    attrs: Vec<Attribute>,
    sig: Signature,
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let sig = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(Self { attrs, sig })
    }
}

pub(crate) fn expand(kind: HookKind, attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = HookOptions::parse(attr, &mut errors);
    // The compiler has its own, better words for a method that does not parse.
    let Ok(Head { attrs, sig }) = syn::parse2::<Head>(item.clone()) else {
        return misplaced(kind, item);
    };
    let hook = Hook {
        kind,
        sig: &sig,
        private: names::private(options.krate.as_ref()),
        options,
        // A method that is configured away takes its hook with it.
        cfgs: attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"))
            .collect(),
    };
    // Of several attributes on one method the last speaks for it, so that one mistake is one error.
    let last = !attrs.iter().any(HookKind::is_declared_by);
    let mut sound = errors.is_empty();
    let mut found = Errors::default();
    hook.check(&mut found);
    sound &= found.is_empty();
    let spoken = last.then_some(&found);

    let lints = last.then(|| {
        quote! {
            #[allow(
                clippy::needless_pass_by_value,
                clippy::unused_async,
                clippy::unused_self,
                reason = "the signature is the hook's"
            )]
        }
    });
    let constant = hook.constant(sound, &errors, spoken);
    let call = hook.call(sound);
    quote! {
        #lints
        #item
        #call
        #constant
    }
}

/// A hook's attribute on something else. What a delete does to rows stands on the struct, but is `#[projection]`'s to read.
fn misplaced(kind: HookKind, item: TokenStream) -> TokenStream {
    if syn::parse2::<syn::DeriveInput>(item.clone()).is_err() {
        return item;
    }
    let mut errors = Errors::default();
    let attribute = kind.attribute();
    errors.at_attribute(if kind == HookKind::Delete {
        "on a struct `#[on_delete(…)]` says what a delete does to its rows: put it below `#[projection(…, table = \"…\")]`"
            .to_owned()
    } else {
        format!("`#[{attribute}]` goes on a method of the projection")
    });
    quote!(#item #errors)
}

/// What the code generator needs to know.
struct Hook<'a> {
    kind: HookKind,
    sig: &'a Signature,
    private: TokenStream,
    options: HookOptions,
    cfgs: Vec<&'a Attribute>,
}

impl Hook<'_> {
    fn check(&self, errors: &mut Errors) {
        let Self { kind, sig, .. } = self;
        let attribute = kind.attribute();
        if sig.asyncness.is_none() {
            errors.at(
                sig.fn_token,
                format!(
                    "a hook is an `async fn`: `#[{attribute}] async fn {}`",
                    sig.ident
                ),
            );
        }
        if !sig.generics.params.is_empty() {
            errors.at(&sig.generics, "a hook can't be generic");
        }
        for arg in &sig.inputs {
            match arg {
                FnArg::Receiver(this) => {
                    if !matches!(this.kind, ReceiverKind::Reference(_, _, None)) {
                        errors.at(
                            this,
                            "a hook borrows its projection as `&self`: several ranges use it at once",
                        );
                    }
                }
                FnArg::Typed(arg) => {
                    if let Type::ImplTrait(ty) = &*arg.ty {
                        errors.at(ty, "a hook can't be generic");
                    }
                    if let Some(cfg) = arg.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
                        errors.at(
                            cfg,
                            "a hook's argument can't be configured away: `cfg` the hook",
                        );
                    }
                }
            }
        }
    }

    fn types(&self) -> impl Iterator<Item = &Type> {
        self.sig.inputs.iter().filter_map(|arg| match arg {
            FnArg::Typed(arg) => Some(&*arg.ty),
            FnArg::Receiver(_) => None,
        })
    }

    /// What the hook asks for. Errors cannot stand between the items of an impl, so they move in here.
    fn constant(&self, sound: bool, errors: &Errors, spoken: Option<&Errors>) -> TokenStream {
        let Self { private, cfgs, .. } = self;
        let constant = self.kind.constant(self.sig.ident.span());
        let name = self.sig.ident.to_string();
        let arguments = sound.then(|| self.arguments());
        let (states, databases) = if sound {
            let types: Vec<_> = self.types().collect();
            (
                quote!(&[#(<#types as __p::Extract<'_>>::STATE),*]),
                quote!(&[#(<#types as __p::Extract<'_>>::DATABASE),*]),
            )
        } else {
            (quote!(&[]), quote!(&[]))
        };
        let only = self.options.only.iter().flatten();
        let takes_self = self.sig.receiver().is_some();
        let projection =
            spoken.map(|_| quote_spanned!(self.sig.ident.span()=> __p::is_projection::<Self>();));
        quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
            pub const #constant: ::core::option::Option<#private::Hook> = {
                #[allow(unused_imports, reason = "generated")]
                use #private as __p;
                #errors
                #spoken
                #projection
                let __needs = __p::Needs::NOTHING;
                #arguments
                ::core::option::Option::Some(__p::Hook {
                    name: #name,
                    needs: __needs,
                    states: const { #states },
                    databases: const { #databases },
                    only: const { &[#(#only),*] },
                    takes_self: #takes_self,
                })
            };
        }
    }

    /// Adds up what the arguments ask for, and refuses those that this kind of hook cannot give.
    fn arguments(&self) -> TokenStream {
        let attribute = self.kind.attribute();
        let variant = self.kind.variant();
        let twice = format!(
            "`{}` takes `Tx` twice, but a page has one transaction",
            self.sig.ident
        );
        self.types()
            .map(|ty| {
                let text = names::text(ty);
                let absent = format!("`{attribute}` can't give `{text}`: take `Option<{text}>`");
                quote_spanned! {ty.span()=>
                    ::core::assert!(
                        <#ty as __p::Extract<'_>>::KINDS.contains(__p::Kind::#variant),
                        "{}", #absent
                    );
                    ::core::assert!(!__needs.clashes(<#ty as __p::Extract<'_>>::NEEDS), "{}", #twice);
                    let __needs = __needs.or(<#ty as __p::Extract<'_>>::NEEDS);
                }
            })
            .collect()
    }

    /// Takes the arguments out of the context and calls the method. That the future is `Send` is
    /// promised here, so that a method whose future is not is told so, and not its projection.
    fn call(&self, sound: bool) -> TokenStream {
        let Self {
            private, cfgs, sig, ..
        } = self;
        let call = self.kind.call(sig.ident.span());
        let body = if sound {
            self.body()
        } else {
            quote!(async move { ::core::unreachable!() })
        };
        let future = quote_spanned! {sig.ident.span()=>
            impl ::core::future::Future<Output = #private::Answer> + ::core::marker::Send + '__a
        };
        quote! {
            #(#cfgs)*
            #[doc(hidden)]
            #[allow(dead_code, unreachable_pub, reason = "generated")]
            pub fn #call<'__a>(
                __this: ::core::option::Option<&'__a Self>,
                __cx: #private::HookCx<'__a>,
            ) -> #future {
                #body
            }
        }
    }

    fn body(&self) -> TokenStream {
        let Self { private, sig, .. } = self;
        let ident = &sig.ident;
        let names: Vec<Ident> = self
            .types()
            .enumerate()
            .map(|(i, _)| format_ident!("__arg{i}"))
            .collect();
        let extract = self.types().zip(&names).map(|(ty, name)| {
            quote_spanned! {ty.span()=>
                let #name = match <#ty as __p::Extract<'_>>::extract(&mut __cx) {
                    ::core::result::Result::Ok(argument) => argument,
                    ::core::result::Result::Err(error) => {
                        return ::core::result::Result::Err(__p::Failure::Argument(error));
                    }
                };
            }
        });
        let receiver = sig.receiver().is_some();
        let this = receiver.then(|| quote!(__this,));
        let instance = if receiver {
            quote! {
                let ::core::option::Option::Some(__this) = __this else {
                    ::core::unreachable!()
                };
            }
        } else {
            quote!(let _ = __this;)
        };
        let call = quote_spanned!(ident.span()=> Self::#ident(#this #(#names),*).await);
        // Named through its own type, a wrong one is underlined as a whole.
        let answer = match &sig.output {
            ReturnType::Type(_, ty) if !matches!(**ty, Type::ImplTrait(_)) => {
                quote_spanned! {ty.span()=>
                    <#ty as __p::IntoVerdict>::into_verdict(__returned)
                }
            }
            _ => quote!(__p::IntoVerdict::into_verdict(__returned)),
        };
        let mutable = (!names.is_empty()).then(|| quote!(let mut __cx = __cx;));
        let future = quote_spanned! {ident.span()=>
            async move {
                #instance
                #mutable
                #(#extract)*
                let __returned = #call;
                #answer.map_err(__p::Failure::Hook)
            }
        };
        quote! {
            #[allow(unused_imports, reason = "generated")]
            use #private as __p;
            #future
        }
    }
}
