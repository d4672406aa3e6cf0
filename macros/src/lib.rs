//! The attribute macros of `projectionist`, whose documentation stands there.
//!
//! Two kinds of macro, each blind to the other: [`macro@projection`] sits on a struct, the hook
//! attributes on methods. A hook attribute adds hidden inherent items beside its method; the struct's
//! attribute names them, and where there is none, the name resolves to the default of a trait
//! (`NoHooks`) that inherent items shadow.

mod condition;
mod errors;
mod hook;
mod names;
mod options;
mod projection;

use proc_macro::TokenStream;

use crate::names::HookKind;

/// Declares a projection.
#[proc_macro_attribute]
pub fn projection(attr: TokenStream, item: TokenStream) -> TokenStream {
    projection::expand(attr.into(), &item.into()).into()
}

/// Runs for every document that was created or replaced.
#[proc_macro_attribute]
pub fn on_upsert(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Upsert, attr.into(), item.into()).into()
}

/// Runs for every document that was created.
#[proc_macro_attribute]
pub fn on_create(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Create, attr.into(), item.into()).into()
}

/// Runs for every document that was replaced.
#[proc_macro_attribute]
pub fn on_replace(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Replace, attr.into(), item.into()).into()
}

/// Runs for every document that was deleted.
#[proc_macro_attribute]
pub fn on_delete(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Delete, attr.into(), item.into()).into()
}

/// Runs for every document whose time to live ran out.
#[proc_macro_attribute]
pub fn on_expire(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Expire, attr.into(), item.into()).into()
}
