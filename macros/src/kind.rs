//! The kinds of hook, and the names that belong to each.

use proc_macro2::Span;
use quote::format_ident;
use syn::{Attribute, Ident};

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

    /// The attribute's name, and the field's in `Hooks`.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Upsert => "on_upsert",
            Self::Create => "on_create",
            Self::Replace => "on_replace",
            Self::Delete => "on_delete",
            Self::Expire => "on_expire",
        }
    }

    /// The variant of the framework's `Kind`.
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

    /// The hidden constant by which method and struct find each other.
    pub(crate) fn constant(self, span: Span) -> Ident {
        format_ident!("__projection_{}", self.attribute(), span = span)
    }

    /// The hidden function that calls the method.
    pub(crate) fn call(self, span: Span) -> Ident {
        format_ident!("__a_projection_has_one_{}", self.attribute(), span = span)
    }

    /// Whether `attribute` declares a hook of whatever kind.
    pub(crate) fn is_declared_by(attribute: &Attribute) -> bool {
        attribute
            .path()
            .segments
            .last()
            .is_some_and(|last| Self::ALL.iter().any(|kind| last.ident == kind.attribute()))
    }
}
