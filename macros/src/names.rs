//! The hidden names by which attributes on methods and on the struct find each other.

use proc_macro2::Span;
use quote::format_ident;
use syn::Ident;

/// Which hook an attribute declares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookKind {
    Upsert,
    Create,
    Replace,
    Delete,
    Expire,
}

impl HookKind {
    pub(crate) const ALL: [Self; 5] = [
        Self::Upsert,
        Self::Create,
        Self::Replace,
        Self::Delete,
        Self::Expire,
    ];

    /// The attribute's name, and the field of `Hooks`.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Upsert => "on_upsert",
            Self::Create => "on_create",
            Self::Replace => "on_replace",
            Self::Delete => "on_delete",
            Self::Expire => "on_expire",
        }
    }

    /// The variant of `Kind`.
    pub(crate) fn variant(self) -> Ident {
        let name = match self {
            Self::Upsert => "Upsert",
            Self::Create => "Create",
            Self::Replace => "Replace",
            Self::Delete => "Delete",
            Self::Expire => "Expire",
        };
        Ident::new(name, Span::call_site())
    }

    /// The field of `Hooks`.
    pub(crate) fn field(self) -> Ident {
        Ident::new(self.attribute(), Span::call_site())
    }

    /// The hidden constant that describes the hook.
    pub(crate) fn constant(self, span: Span) -> Ident {
        format_ident!("__projection_{}", self.attribute(), span = span)
    }

    /// The hidden function that calls it.
    pub(crate) fn call(self, span: Span) -> Ident {
        format_ident!("__projection_call_{}", self.attribute(), span = span)
    }
}
