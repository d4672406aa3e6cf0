//! `#[projection(…)]`, on a struct.

mod checks;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Fields, Generics, Ident, Item, LitStr};

use crate::errors::Errors;
use crate::kind::HookKind;
use crate::names;
use crate::options::{Ddl, Mode, ProjectionOptions, Start, is_file};
use crate::removal::{self, Removal};
use crate::row::{self, Of, RowFields};

pub(crate) fn expand(attr: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = ProjectionOptions::parse(attr, &mut errors);
    let private = names::private(options.krate.as_ref());
    // The compiler has its own, better words for an item that does not parse.
    let Ok(parsed) = syn::parse2::<Item>(item.clone()) else {
        return quote!(#item #errors);
    };
    let mut stripped = None;
    let mut row = None;
    let (ident, generics, fields) = match parsed {
        Item::Struct(mut item) => {
            let removal = removal::take(&mut item.attrs, &mut errors);
            if let Some(table) = &options.table {
                let fields = RowFields::read(&item.fields, Of::Document, &mut errors);
                if let Some(fields) = &fields {
                    fields.check_tables(table, &mut errors);
                }
                if let (Some(removal), Some(fields)) = (&removal, &fields) {
                    removal.check(fields, &mut errors);
                }
                row = Some(TableRow { fields, removal });
                row::strip(&mut item.fields);
                stripped = Some(quote!(#item));
            } else {
                // Of a table that was mistyped nothing more is said.
                let sound = errors.is_empty();
                let column = row::strip(&mut item.fields);
                if let (true, Some(column)) = (sound, &column) {
                    errors.at(column, "`#[column(…)]` is for rows: say `table = \"…\"`");
                }
                if let (true, Some(removal)) = (sound, &removal) {
                    errors.push(syn::Error::new(
                        removal.span,
                        "`on_delete` on the struct is for rows: say `table = \"…\"`, or put it on a method",
                    ));
                }
                if column.is_some() || removal.is_some() {
                    stripped = Some(quote!(#item));
                }
            }
            (item.ident, item.generics, Some(item.fields))
        }
        Item::Enum(item) => (item.ident, item.generics, misplaced(&mut errors)),
        Item::Union(item) => (item.ident, item.generics, misplaced(&mut errors)),
        _ => {
            misplaced(&mut errors);
            return quote!(#item #errors);
        }
    };
    let projection = Projection {
        private,
        ident,
        generics,
        options,
        row,
    };
    if projection.row.is_some() && !projection.generics.params.is_empty() {
        errors.at(&projection.generics, "a row projection can't be generic");
        let item = stripped.as_ref().unwrap_or(item);
        return quote!(#item #errors);
    }
    let build = projection.check(fields.as_ref(), &mut errors);
    let code = projection.render(&build, &errors);
    let item = stripped.as_ref().unwrap_or(item);
    quote! {
        #item
        #errors
        #code
    }
}

fn misplaced(errors: &mut Errors) -> Option<Fields> {
    errors.at_attribute(
        "`#[projection]` goes on a struct; its hooks are methods in an impl block of that struct",
    );
    None
}

/// What the code generator needs to know.
struct Projection {
    private: TokenStream,
    ident: Ident,
    generics: Generics,
    options: ProjectionOptions,
    row: Option<TableRow>,
}

/// What makes it a row projection.
struct TableRow {
    /// None: they are no row's.
    fields: Option<RowFields>,
    removal: Option<Removal>,
}

impl Projection {
    /// Checks what can be seen here. The expression that makes the one instance.
    fn check(&self, fields: Option<&Fields>, errors: &mut Errors) -> TokenStream {
        let Self {
            generics, options, ..
        } = self;
        if options.collection.is_none() && errors.is_empty() {
            errors.at_attribute(
                "missing `collection = \"…\"`: which collection feeds this projection?",
            );
        }
        if options.name.is_none() && errors.is_empty() {
            errors.at_attribute(
                "missing `name = \"…\"`: checkpoints are filed under it, so it is never derived",
            );
        }
        if !generics.params.is_empty() && options.register != Some(false) {
            errors.at(
                generics,
                "a generic projection can't register itself: say `register = false`, and register each concrete type by hand",
            );
        }
        if let (Some(_), Some(init)) = (&self.row, &options.init) {
            errors.at(
                init,
                "a row projection has no instance: there is nothing for `init` to make",
            );
        }
        match (&options.init, fields) {
            (_, None) => quote!(::core::unreachable!()),
            _ if self.row.is_some() => quote!(::core::unreachable!()),
            (Some(init), _) => {
                quote!(__p::IntoProjection::<Self>::into_projection((#init)(__states)))
            }
            (None, Some(fields)) if fields.is_empty() => {
                quote!(::core::result::Result::Ok(Self {}))
            }
            (None, Some(fields)) => {
                if errors.is_empty() {
                    errors.at(
                        fields,
                        "a projection with fields needs `init = path`: a function from `&States` to the projection, or to a `Result` of it",
                    );
                }
                quote!(::core::unreachable!())
            }
        }
    }

    /// Even a broken declaration implements the trait, so that its hooks do not all complain too.
    fn render(&self, build: &TokenStream, errors: &Errors) -> TokenStream {
        let Self {
            private,
            ident,
            generics,
            ..
        } = self;
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let sound = errors.is_empty();
        let spec = self.spec();
        let fields = HookKind::ALL.iter().map(|kind| {
            let field = Ident::new(kind.attribute(), Span::call_site());
            let constant = kind.constant(Span::call_site());
            quote!(#field: Self::#constant)
        });
        let calls = HookKind::ALL.iter().map(|kind| {
            let variant = kind.variant();
            let call = kind.call(Span::call_site());
            quote!(__p::Kind::#variant => Self::#call(__this, __cx).await)
        });
        let checks = sound.then(|| self.checks());
        // Beside the trait they are one error. What they say of a generic type depends on its
        // parameters, which only the trait's own constants may name.
        let (inner, outer) = if generics.params.is_empty() {
            let outer = checks.map(|checks| {
                quote! {
                    const _: () = {
                        let __hooks = <#ident as __p::Projection>::HOOKS;
                        #checks
                    };
                }
            });
            (None, outer)
        } else {
            (checks, None)
        };
        let soft_delete = self.options.soft_delete.is_some();
        let mode = match self.options.mode {
            Some((_, Mode::LatestVersion)) => quote!(__p::Mode::LatestVersion),
            Some((_, Mode::AllVersionsAndDeletes)) => quote!(__p::Mode::AllVersionsAndDeletes),
            None if self.deletes_rows() => quote!(__p::Mode::AllVersionsAndDeletes),
            None => quote!(<Self as __p::Projection>::HOOKS.mode(#soft_delete)),
        };
        let row = self.row.as_ref().map(|row| match &row.fields {
            Some(fields) if sound => fields.implement(ident),
            _ => row::fallback(ident, generics),
        });
        let put_row = self.row.is_some().then(|| {
            quote! {
                fn put_row(
                    __document: &__p::Document,
                    __rows: &mut __p::Rows,
                ) -> ::core::result::Result<(), __p::JsonError> {
                    __p::put_row::<Self>(__document, __rows)
                }
            }
        });
        let register = sound.then(|| self.register());
        quote! {
            const _: () = {
                #[allow(unused_imports, reason = "generated")]
                use #private as __p;
                #[allow(unused_imports, reason = "generated")]
                use __p::{AsJson as _, NoHooks as _};

                #[automatically_derived]
                impl #impl_generics __p::Projection for #ident #type_generics #where_clause {
                    const SPEC: __p::Spec = #spec;
                    const HOOKS: __p::Hooks = {
                        let __hooks = __p::Hooks { #(#fields),* };
                        #inner
                        __hooks
                    };
                    const MODE: __p::Mode = #mode;

                    fn build(
                        __states: &__p::States,
                    ) -> ::core::result::Result<Self, __p::BoxError> {
                        let _ = __states;
                        #build
                    }

                    #put_row

                    fn apply_page<'__a>(
                        __this: ::core::option::Option<&'__a Self>,
                        mut __page: __p::Page<'__a>,
                    ) -> __p::BoxFuture<'__a, __p::Outcome> {
                        ::std::boxed::Box::pin(async move {
                            while let ::core::option::Option::Some((__kind, __cx)) = __page.advance() {
                                let __answer = match __kind {
                                    #(#calls,)*
                                    _ => ::core::unreachable!(),
                                };
                                if __page.settle(__answer).is_break() {
                                    break;
                                }
                            }
                            __page.finish()
                        })
                    }
                }
                #row
                #outer
                #register
            };
        }
    }

    /// Whether only the all-versions feed shows what its rows need to know.
    fn deletes_rows(&self) -> bool {
        let removal = self.row.as_ref().and_then(|row| row.removal.as_ref());
        removal.is_some() && self.options.soft_delete.is_none()
    }

    fn table(&self) -> Option<TokenStream> {
        let name = self.options.table.as_ref()?;
        let row = self.row.as_ref()?;
        let children = row.fields.as_ref()?.children();
        let on_delete = Removal::value(row.removal.as_ref());
        Some(quote! {
            __p::Table {
                name: #name,
                columns: <Self as __p::Row>::COLUMNS,
                children: #children,
                on_delete: #on_delete,
            }
        })
    }

    fn spec(&self) -> TokenStream {
        let options = &self.options;
        let text = |text: &Option<LitStr>| text.as_ref().map(LitStr::value).unwrap_or_default();
        let name = text(&options.name);
        let collection = text(&options.collection);
        let only = options.only.iter().flatten();
        let soft_delete = option(options.soft_delete.as_ref().map(|(_, mark)| quote!(#mark)));
        let start = option(options.start.map(|(_, start)| match start {
            Start::Now => quote!(__p::Start::Now),
            Start::Beginning => quote!(__p::Start::Beginning),
            Start::At(second) => quote!(__p::Start::At(#second)),
        }));
        let batch = option(options.batch.map(|batch| quote!(#batch)));
        let ddl = option(options.ddl.as_ref().map(|Ddl { sqlite, postgres }| {
            let sqlite = option(sqlite.as_ref().map(script));
            let postgres = option(postgres.as_ref().map(script));
            quote!(__p::Ddl { sqlite: #sqlite, postgres: #postgres })
        }));
        let table = option(self.table());
        quote! {
            __p::Spec {
                name: #name,
                collection: #collection,
                only: &[#(#only),*],
                soft_delete: #soft_delete,
                start: #start,
                batch: #batch,
                ddl: #ddl,
                table: #table,
            }
        }
    }

    fn register(&self) -> TokenStream {
        let ident = &self.ident;
        if self.options.register == Some(false) {
            return TokenStream::new();
        }
        quote! {
            __p::inventory::submit! {
                __p::ProjectionDef::of::<#ident>(__p::Location {
                    file: ::core::file!(),
                    line: ::core::line!(),
                })
            }
        }
    }
}

/// A script's text, or the text of its file.
fn script(script: &LitStr) -> TokenStream {
    if is_file(&script.value()) {
        // The file stands beside the one that names it, and so the literal's own place counts.
        quote_spanned!(script.span()=> ::core::include_str!(#script))
    } else {
        quote!(#script)
    }
}

fn option(value: Option<TokenStream>) -> TokenStream {
    if let Some(value) = value {
        quote!(::core::option::Option::Some(#value))
    } else {
        quote!(::core::option::Option::None)
    }
}
