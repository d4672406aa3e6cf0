//! Attributes that do not exist, but that people write: the names of other libraries' triggers.
//!
//! Without them the compiler would suggest the hook whose name is spelt the most like theirs, and
//! following it would silently change what the projection sees, or its mode.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

/// A name that is not a hook's.
#[derive(Clone, Copy)]
pub(crate) enum Decoy {
    Update,
    Insert,
    Write,
    Change,
    Remove,
}

impl Decoy {
    pub(crate) const ALL: [Self; 5] = [
        Self::Update,
        Self::Insert,
        Self::Write,
        Self::Change,
        Self::Remove,
    ];

    const fn attribute(self) -> &'static str {
        match self {
            Self::Update => "on_update",
            Self::Insert => "on_insert",
            Self::Write => "on_write",
            Self::Change => "on_change",
            Self::Remove => "on_remove",
        }
    }

    /// The hidden constant that is true where the attribute stands.
    pub(crate) fn constant(self) -> Ident {
        format_ident!("__projection_{}", self.attribute())
    }

    /// What to write instead.
    const fn remedy(self) -> &'static str {
        match self {
            Self::Update => {
                "`#[on_upsert]` for every write, `#[on_replace]` for replaces only (all-versions mode)"
            }
            Self::Insert => {
                "`#[on_upsert]` for every write, `#[on_create]` for new documents only (all-versions mode)"
            }
            Self::Write => "`#[on_upsert]`, which is for every write",
            Self::Change => {
                "`#[on_upsert]` for every write, \
                 `#[on_delete]` for deletes (all-versions mode, unless there is a `soft_delete`)"
            }
            Self::Remove => "`#[on_delete]` (all-versions mode, unless there is a `soft_delete`)",
        }
    }
}

/// The item as it was, and the one error. The constant keeps the projection from complaining of the
/// hook that it lacks now.
pub(crate) fn expand(decoy: Decoy, item: &TokenStream) -> TokenStream {
    // In the item's own context the compiler does not add that a macro is to blame.
    let context = item
        .clone()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span());
    let message = format!(
        "there is no `#[{}]`: use {}",
        decoy.attribute(),
        decoy.remedy()
    );
    let error = syn::Error::new(Span::call_site().resolved_at(context), message).to_compile_error();
    let constant = decoy.constant();
    quote! {
        #item
        #error
        #[doc(hidden)]
        #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
        pub const #constant: bool = true;
    }
}
