//! The attributes of `projectionist`. Their documentation is in that crate.
//!
//! Two kinds of macro, each blind to the other. A hook's attribute re-emits its method untouched and
//! puts two hidden inherent items beside it: a constant, which says what the hook asks for, and a
//! function, which takes its arguments out of a context and calls it. `#[projection]` names those
//! items for every kind of hook. An inherent item shadows the trait item of the same name, so that a
//! hook which is not there resolves to what `NoHooks` provides: nothing.

mod condition;
mod decoy;
mod errors;
mod hook;
mod kind;
mod names;
mod options;
mod projection;
mod removal;
mod row;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

use decoy::Decoy;
use kind::HookKind;

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_attribute]
pub fn projection(attr: TokenStream, item: TokenStream) -> TokenStream {
    projection::expand(attr.into(), &item.into()).into()
}

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_attribute]
pub fn on_upsert(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Upsert, attr.into(), item.into()).into()
}

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_attribute]
pub fn on_create(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Create, attr.into(), item.into()).into()
}

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_attribute]
pub fn on_replace(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Replace, attr.into(), item.into()).into()
}

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_attribute]
pub fn on_delete(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Delete, attr.into(), item.into()).into()
}

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_attribute]
pub fn on_expire(attr: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(HookKind::Expire, attr.into(), item.into()).into()
}

#[expect(missing_docs, reason = "the facade documents it")]
#[proc_macro_derive(ProjectionRow, attributes(column))]
pub fn projection_row(item: TokenStream) -> TokenStream {
    row::derive(item.into()).into()
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn on_update(_: TokenStream, item: TokenStream) -> TokenStream {
    decoy::expand(Decoy::Update, &item.into()).into()
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn on_insert(_: TokenStream, item: TokenStream) -> TokenStream {
    decoy::expand(Decoy::Insert, &item.into()).into()
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn on_write(_: TokenStream, item: TokenStream) -> TokenStream {
    decoy::expand(Decoy::Write, &item.into()).into()
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn on_change(_: TokenStream, item: TokenStream) -> TokenStream {
    decoy::expand(Decoy::Change, &item.into()).into()
}

#[doc(hidden)]
#[proc_macro_attribute]
pub fn on_remove(_: TokenStream, item: TokenStream) -> TokenStream {
    decoy::expand(Decoy::Remove, &item.into()).into()
}
