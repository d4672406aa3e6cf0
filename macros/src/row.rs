//! A struct that is a row: `#[projection(…, table = "…")]` and `#[derive(ProjectionRow)]`.
//!
//! The fields become columns, a way through the document to each, and the code that reads them in one pass.

mod column;
mod path;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Fields, Ident, LitStr, Type};

use self::column::{ColumnOptions, Default};
use self::path::Way;
use crate::errors::Errors;
use crate::names;

pub(crate) use self::column::strip;

/// The fields of a row.
pub(crate) struct RowFields {
    fields: Vec<Field>,
}

/// One field of a row: a column, or a table of its own.
struct Field {
    ident: Ident,
    ty: Type,
    options: ColumnOptions,
}

/// Which kind of row it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// A document.
    Document,
    /// An item of a document's array.
    Item,
}

impl Field {
    /// The column's name.
    fn name(&self) -> String {
        self.ident.to_string().trim_start_matches("r#").to_owned()
    }

    /// The path of its value in the document.
    fn path(&self) -> Vec<String> {
        let named = self.options.each.as_ref().or(self.options.from.as_ref());
        named.map_or_else(
            || vec![self.name()],
            |path| path.value().split('.').map(str::to_owned).collect(),
        )
    }

    /// The type of the items, if this is a table of its own.
    fn item(&self) -> Option<&Type> {
        self.options.each.as_ref()?;
        vec_of(&self.ty)
    }
}

/// `T` of `Vec<T>`.
fn vec_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        syn::GenericArgument::Type(item) if last.ident == "Vec" => Some(item),
        _ => None,
    }
}

impl RowFields {
    /// Reads the fields' attributes, recording every mistake on the way.
    pub(crate) fn read(fields: &Fields, of: Of, errors: &mut Errors) -> Option<Self> {
        let Fields::Named(named) = fields else {
            errors.at(
                fields,
                "a row has named fields: each is a column of its name",
            );
            return None;
        };
        let fields: Vec<Field> = named
            .named
            .iter()
            .filter_map(|field| {
                let ident = field.ident.clone()?;
                if let Some(cfg) = field.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
                    errors.at(
                        cfg,
                        "a table has all its columns in every build: a field can't be configured away",
                    );
                }
                Some(Field {
                    options: ColumnOptions::read(&field.attrs, errors),
                    ty: field.ty.clone(),
                    ident,
                })
            })
            .collect();
        let row = Self { fields };
        row.check(named.span(), of, errors);
        Some(row)
    }

    fn check(&self, span: Span, of: Of, errors: &mut Errors) {
        for (index, field) in self.fields.iter().enumerate() {
            let name = field.name();
            // To databases `Id` and `id` are one.
            let same = |other: &Field| other.name().eq_ignore_ascii_case(&name);
            if self.fields[..index].iter().any(same) {
                errors.at(&field.ident, format!("column `{name}` stands twice"));
            }
            if name.starts_with("projectionist") || name.len() > 63 {
                errors.at(
                    &field.ident,
                    "a column's name has 63 bytes at most and does not begin with `projectionist`",
                );
            }
            let Some(each) = &field.options.each else {
                continue;
            };
            if of == Of::Item {
                errors.at(each, "a child table has no child tables of its own");
            } else if field.item().is_none() {
                errors.at(
                    &field.ty,
                    "a field with `each` is a `Vec` of a type with `#[derive(ProjectionRow)]`",
                );
            }
        }
        let has_key = self.fields.iter().any(|field| field.options.key);
        if of == Of::Document && !has_key && errors.is_empty() {
            errors.push(syn::Error::new(
                span,
                "no column is the key: write `#[column(key)]` on the fields that tell rows apart",
            ));
        }
    }

    /// Checks that the tables have names of their own.
    pub(crate) fn check_tables(&self, parent: &LitStr, errors: &mut Errors) {
        let mut known = vec![parent.value()];
        for table in self
            .fields
            .iter()
            .filter_map(|field| field.options.table.as_ref())
        {
            let name = table.value();
            if known.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
                errors.at(table, format!("table `{name}` stands twice"));
            }
            known.push(name);
        }
    }

    /// The column of that name, with whether it is a key.
    pub(crate) fn column(&self, name: &str) -> Option<bool> {
        self.columns()
            .find(|field| field.name() == name)
            .map(|field| field.options.key)
    }

    /// The names of its columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns().map(Field::name).collect()
    }

    fn columns(&self) -> impl Iterator<Item = &Field> {
        self.fields
            .iter()
            .filter(|field| field.options.each.is_none())
    }

    fn tables(&self) -> impl Iterator<Item = &Field> {
        self.fields
            .iter()
            .filter(|field| field.options.each.is_some())
    }

    /// The child tables, as the framework's constants.
    pub(crate) fn children(&self) -> TokenStream {
        let children = self.tables().filter_map(|field| {
            let item = field.item()?;
            let table = field.options.table.as_ref()?;
            Some(quote! {
                __p::Child { name: #table, columns: <#item as __p::Row>::COLUMNS }
            })
        });
        quote!(&[#(#children),*])
    }

    /// Assertions on the child tables, whose columns only the compiler sees.
    pub(crate) fn checks(&self, ident: &Ident) -> TokenStream {
        self.tables()
            .filter_map(|field| {
                let item = field.item()?;
                let message = format!(
                    "a column of `{}` has the name of a key of its parent, or of `position`: rename the field and say where it is read, `#[column(from = \"…\")]`",
                    names::text(item)
                );
                Some(quote_spanned! {item.span()=>
                    ::core::assert!(
                        __p::are_apart(
                            <#ident as __p::Row>::COLUMNS,
                            <#item as __p::Row>::COLUMNS,
                        ),
                        "{}", #message
                    );
                })
            })
            .collect()
    }

    /// The implementation of the framework's `Row`. Inside a block that imports `__p`.
    pub(crate) fn implement(&self, ident: &Ident) -> TokenStream {
        let columns = self.columns().map(|field| {
            let (name, ty, key) = (field.name(), &field.ty, field.options.key);
            quote_spanned! {ty.span()=>
                __p::Column {
                    name: #name,
                    kind: __p::Probe::<#ty>::KIND,
                    is_nullable: __p::Probe::<#ty>::IS_NULLABLE,
                    is_key: #key,
                }
            }
        });
        let slot = |index: usize| format_ident!("f{index}");
        let slots = self.fields.iter().enumerate().map(|(index, field)| {
            let (slot, ty) = (slot(index), &field.ty);
            quote!(#slot: ::core::option::Option<#ty>)
        });
        let fills = self.fields.iter().enumerate().map(|(index, field)| {
            let slot = slot(index);
            let read = field.read();
            quote!(#index => self.#slot = #read,)
        });
        let paths = self.fields.iter().enumerate().map(|(index, field)| {
            let path = field.path().join(".");
            quote!(#index => #path,)
        });
        let ways: Vec<_> = self.fields.iter().map(Field::path).collect();
        let nodes = Way::of(&ways).nodes();
        let takes = self.fields.iter().enumerate().map(|(index, field)| {
            let (ident, slot, path) = (&field.ident, slot(index), field.path().join("."));
            let absent = field.absent();
            quote!(#ident: __p::take(__slots.#slot, #absent, #path)?)
        });
        let idents: Vec<_> = self.fields.iter().map(|field| &field.ident).collect();
        let puts = self.columns().enumerate().map(|(index, field)| {
            let (ident, ty) = (&field.ident, &field.ty);
            quote_spanned!(ty.span()=> __p::Probe::<#ty>::put(#ident, __rows.column(#index));)
        });
        let eaches = self.tables().enumerate().map(|(index, field)| {
            let ident = &field.ident;
            quote!(__rows.each(#index, #ident);)
        });
        quote! {
            #[automatically_derived]
            impl __p::Row for #ident {
                const COLUMNS: &'static [__p::Column] = &[#(#columns),*];

                fn read<'de, __D: __p::Deserializer<'de>>(
                    __deserializer: __D,
                ) -> ::core::result::Result<Self, __D::Error> {
                    #[derive(::core::default::Default)]
                    struct __Slots {
                        #(#slots),*
                    }

                    impl __p::Slots for __Slots {
                        const NODES: &'static [__p::Node] = #nodes;

                        fn fill<'de, __D: __p::Deserializer<'de>>(
                            &mut self,
                            __slot: usize,
                            __deserializer: __D,
                        ) -> ::core::result::Result<(), __D::Error> {
                            match __slot {
                                #(#fills)*
                                _ => ::core::unreachable!(),
                            }
                            ::core::result::Result::Ok(())
                        }

                        fn path(__slot: usize) -> &'static str {
                            match __slot {
                                #(#paths)*
                                _ => ::core::unreachable!(),
                            }
                        }
                    }

                    let __slots: __Slots = __p::read_slots(__deserializer)?;
                    ::core::result::Result::Ok(Self { #(#takes),* })
                }

                fn put(self, __rows: &mut __p::Rows) {
                    let Self { #(#idents),* } = self;
                    #(#puts)*
                    #(#eaches)*
                    __rows.end();
                }
            }
        }
    }
}

impl Field {
    /// Reads its slot: an `Option` of its type.
    fn read(&self) -> TokenStream {
        let ty = &self.ty;
        if self.options.each.is_some() {
            return quote!(::core::option::Option::Some(__p::read_each(
                __deserializer
            )?));
        }
        if let Some(with) = &self.options.with {
            return quote_spanned! {with.span()=>
                ::core::option::Option::Some(__p::read_with::<_, _, _, #ty>(__deserializer, #with)?)
            };
        }
        if self.options.default.is_some() {
            // What has a default has it for `null` too.
            return quote_spanned! {ty.span()=>
                __p::Probe::<::core::option::Option<#ty>>::read(__deserializer)?
            };
        }
        quote_spanned! {ty.span()=>
            ::core::option::Option::Some(__p::Probe::<#ty>::read(__deserializer)?)
        }
    }

    /// What it is where the document does not have it: a function that may give nothing.
    fn absent(&self) -> TokenStream {
        let ty = &self.ty;
        if self.options.each.is_some() {
            return quote!(|| ::core::option::Option::Some(::std::vec::Vec::new()));
        }
        match &self.options.default {
            Some(Default::Own) => {
                quote_spanned!(ty.span()=> || ::core::option::Option::Some(<#ty as ::core::default::Default>::default()))
            }
            Some(Default::Value(value)) => {
                quote_spanned!(value.span()=> || ::core::option::Option::Some(#value))
            }
            None => quote_spanned!(ty.span()=> __p::Probe::<#ty>::absent),
        }
    }
}

/// `#[derive(ProjectionRow)]`.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let krate = column::krate(&input.attrs, &mut errors);
    let private = names::private(krate.as_ref());
    let ident = &input.ident;
    let row = if let syn::Data::Struct(data) = &input.data {
        RowFields::read(&data.fields, Of::Item, &mut errors)
    } else {
        errors.at(ident, "a row is a struct");
        None
    };
    if !input.generics.params.is_empty() {
        errors.at(&input.generics, "a row can't be generic");
    }
    let code = match row {
        Some(row) if errors.is_empty() => row.implement(ident),
        _ => fallback(ident, &input.generics),
    };
    quote! {
        #errors
        const _: () = {
            #[allow(unused_imports, reason = "generated")]
            use #private as __p;
            #[allow(unused_imports, reason = "generated")]
            use __p::AsJson as _;
            #code
        };
    }
}

/// Even a broken row is one, so that who uses it does not complain too.
pub(crate) fn fallback(ident: &Ident, generics: &syn::Generics) -> TokenStream {
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics __p::Row for #ident #type_generics #where_clause {
            const COLUMNS: &'static [__p::Column] = &[];

            fn read<'de, __D: __p::Deserializer<'de>>(
                _: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                ::core::unreachable!()
            }

            fn put(self, _: &mut __p::Rows) {
                ::core::unreachable!()
            }
        }
    }
}
