//! `#[projection(…)]`, on a struct.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Fields, Ident, ItemStruct, LitStr, Path};

use crate::errors::Errors;
use crate::names::HookKind;
use crate::options::{Ddl, Mode, ProjectionOptions, Start};

pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = ProjectionOptions::parse(attr, &mut errors);
    let parsed = match syn::parse2::<ItemStruct>(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            if syn::parse2::<syn::Item>(item.clone()).is_ok() {
                errors.push(syn::Error::new(
                    Span::call_site(),
                    "`#[projection]` goes on a struct; hooks go on the methods of its impl block",
                ));
            } else {
                errors.push(error);
            }
            return quote!(#item #errors);
        }
    };
    let projection = Projection::check(parsed, options, &mut errors);
    let code = projection.render(&errors);
    quote! {
        #item
        #errors
        #code
    }
}

/// What the code generator needs to know.
struct Projection {
    item: ItemStruct,
    options: ProjectionOptions,
    framework: Path,
    name: LitStr,
    collection: LitStr,
    build: TokenStream,
}

impl Projection {
    fn check(item: ItemStruct, options: ProjectionOptions, errors: &mut Errors) -> Self {
        let framework = options.framework();
        let absent = || LitStr::new("", Span::call_site());
        let collection = options.collection.clone().unwrap_or_else(|| {
            errors.push(syn::Error::new(
                Span::call_site(),
                "missing `collection = \"…\"`: which collection feeds this projection?",
            ));
            absent()
        });
        let name = options.name.clone().unwrap_or_else(|| {
            errors.push(syn::Error::new(
                Span::call_site(),
                "missing `name = \"…\"`: checkpoints are filed under it, so it must not change when code moves",
            ));
            absent()
        });
        let registered = options.register.as_ref().is_none_or(syn::LitBool::value);
        if registered && !item.generics.params.is_empty() {
            errors.at(
                &item.generics,
                "a registered projection is one concrete type: add `register = false`, and register each by hand",
            );
        }
        let build = match (&options.init, &item.fields) {
            (Some(init), _) => quote!(__p::into_built(#init(states))),
            (None, Fields::Unit) => quote!(::core::result::Result::Ok(Self)),
            (None, fields) => {
                errors.at(
                    fields,
                    "a projection with fields needs `init = path`: a function from `&States` to `Self` or `Result<Self, E>`",
                );
                quote!(::core::unreachable!())
            }
        };
        Self {
            item,
            options,
            framework,
            name,
            collection,
            build,
        }
    }

    /// Even a broken declaration implements the trait, so that its hooks do not all complain too.
    fn render(&self, errors: &Errors) -> TokenStream {
        let Self {
            framework,
            item,
            build,
            ..
        } = self;
        let ident = &item.ident;
        let (impl_generics, type_generics, where_clause) = item.generics.split_for_impl();
        let generic = !item.generics.params.is_empty();
        let spec = self.spec();
        let hooks = HookKind::ALL.map(|kind| {
            let field = kind.field();
            let constant = kind.constant(Span::call_site());
            quote!(#field: Self::#constant)
        });
        let calls = HookKind::ALL.map(|kind| {
            let variant = kind.variant();
            let call = kind.call(Span::call_site());
            quote!(__p::Kind::#variant => self.#call(cx).await)
        });
        let soft_delete = self.options.soft_delete.is_some();
        let mode = if let Some((_, Mode::AllVersionsAndDeletes)) = self.options.mode {
            quote!(__p::Mode::AllVersionsAndDeletes)
        } else {
            quote!(Self::HOOKS.mode(#soft_delete))
        };
        let checks = (errors.is_empty() && !generic).then(|| self.checks());
        let registered = self
            .options
            .register
            .as_ref()
            .is_none_or(syn::LitBool::value);
        let register = (errors.is_empty() && !generic && registered).then(|| register(ident));
        quote! {
            #[allow(non_upper_case_globals)]
            const _: () = {
                use #framework::__private as __p;
                #[allow(unused_imports)]
                use __p::NoHooks as _;

                #[automatically_derived]
                impl #impl_generics __p::Projection for #ident #type_generics #where_clause {
                    const SPEC: __p::Spec = #spec;
                    const HOOKS: __p::Hooks = __p::Hooks { #(#hooks),* };
                    const MODE: __p::Mode = #mode;

                    fn build(
                        states: &__p::States,
                    ) -> ::core::result::Result<Self, __p::BoxError> {
                        let _ = states;
                        #build
                    }

                    fn apply_page<'a>(
                        &'a self,
                        mut page: __p::Page<'a>,
                    ) -> __p::BoxFuture<'a, __p::Outcome> {
                        ::std::boxed::Box::pin(async move {
                            while let ::core::option::Option::Some((kind, cx)) = page.advance() {
                                let answer = match kind {
                                    #(#calls,)*
                                    _ => ::core::unreachable!("the framework and its macros have one version"),
                                };
                                if page.settle(answer).is_break() {
                                    break;
                                }
                            }
                            page.finish()
                        })
                    }
                }
                #checks
                #register
            };
        }
    }

    fn spec(&self) -> TokenStream {
        let Self {
            name,
            collection,
            options,
            ..
        } = self;
        let only = &options.only;
        let soft_delete = option(options.soft_delete.as_ref().map(|mark| quote!(#mark)));
        let start = option(options.start.map(|(_, start)| match start {
            Start::Now => quote!(__p::Start::Now),
            Start::Beginning => quote!(__p::Start::Beginning),
            Start::At(seconds) => quote!(__p::Start::At(#seconds)),
        }));
        let batch = option(options.batch.map(|size| quote!(#size)));
        let ddl = option(options.ddl.as_ref().map(|Ddl { sqlite, postgres }| {
            let file = |file: &Option<LitStr>| {
                option(
                    file.as_ref()
                        .map(|file| quote!(::core::include_str!(#file))),
                )
            };
            let (sqlite, postgres) = (file(sqlite), file(postgres));
            quote!(__p::Ddl { sqlite: #sqlite, postgres: #postgres })
        }));
        quote! {
            __p::Spec {
                name: #name,
                collection: #collection,
                only: &[#(#only),*],
                soft_delete: #soft_delete,
                start: #start,
                batch: #batch,
                ddl: #ddl,
            }
        }
    }

    /// What only the compiler can check, once it knows which hooks exist and what they take.
    fn checks(&self) -> TokenStream {
        let ident = &self.item.ident;
        let name = self.name.value();
        let hooks = quote!(<#ident as __p::Projection>::HOOKS);
        let soft_delete = self.options.soft_delete.is_some();
        let here = self.name.span();
        let empty = format!(
            "projection `{name}` has no hooks: give `{ident}` a method with `#[on_upsert]`"
        );
        let idle = format!(
            "the `#[on_upsert]` of projection `{name}` can never run: `#[on_create]` and `#[on_replace]` take all of its changes"
        );
        let mut checks = quote_spanned! {here=>
            const _: () = ::core::assert!(!#hooks.is_empty(), #empty);
            const _: () = ::core::assert!(
                !(#hooks.on_upsert.is_some() && #hooks.on_create.is_some() && #hooks.on_replace.is_some()),
                #idle
            );
        };
        if let Some((span, Mode::LatestVersion)) = self.options.mode {
            let message = format!(
                "projection `{name}` asks for `latest_version`, but one of its hooks or arguments needs `all_versions_and_deletes`"
            );
            checks.extend(quote_spanned! {span=>
                const _: () = ::core::assert!(
                    ::core::matches!(#hooks.mode(#soft_delete), __p::Mode::LatestVersion),
                    #message
                );
            });
        }
        if let Some((span, Start::Beginning | Start::At(_))) = self.options.start {
            let message = format!(
                "projection `{name}` needs the all-versions feed, which has no beginning: use `start = now`, or make it a latest-version projection, with `soft_delete(…)` for its deletes"
            );
            checks.extend(quote_spanned! {span=>
                const _: () = ::core::assert!(
                    ::core::matches!(<#ident as __p::Projection>::MODE, __p::Mode::LatestVersion),
                    #message
                );
            });
        }
        checks
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}

fn register(ident: &Ident) -> TokenStream {
    quote! {
        __p::inventory::submit! {
            __p::ProjectionDef::of::<#ident>(__p::Location {
                file: ::core::file!(),
                line: ::core::line!(),
            })
        }
    }
}
