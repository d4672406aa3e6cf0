//! Assertions that the compiler makes once it sees all hooks together.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;

use super::Projection;
use crate::decoy::Decoy;
use crate::options::{Mode, Start};

impl Projection {
    /// Assertions on what makes it a row projection.
    fn row_checks(&self) -> Option<TokenStream> {
        let ident = &self.ident;
        self.row.as_ref().map(|row| {
            let rows = row.fields.as_ref().map(|fields| fields.checks(ident));
            let removal = row.removal.as_ref().map(|removal| {
                quote_spanned! {removal.span=>
                    ::core::assert!(
                        __hooks.on_delete.is_none(),
                        "a delete is either the row's, `on_delete` on the struct, or the hook's, `on_delete` on a method"
                    );
                }
            });
            quote_spanned! {ident.span()=>
                ::core::assert!(
                    !__hooks.take_self(),
                    "a hook of a row projection is an associated function: it takes no `&self`, for there is no instance"
                );
                #removal
                #rows
            }
        })
    }

    /// Assertions on the hooks, which only the compiler sees together.
    pub(super) fn checks(&self) -> TokenStream {
        let Self {
            ident,
            generics,
            options,
            ..
        } = self;
        let soft_delete = options.soft_delete.is_some();
        let has_hooks = self.row.is_none().then(|| {
            quote_spanned! {ident.span()=>
                ::core::assert!(
                    !__hooks.is_empty(),
                    "this projection has no hooks: put `#[on_upsert]` on a method"
                );
            }
        });
        let mut checks = vec![
            self.row_checks().unwrap_or_default(),
            has_hooks.unwrap_or_default(),
            quote_spanned! {ident.span()=>
                ::core::assert!(
                    __hooks.on_upsert.is_none()
                        || __hooks.on_create.is_none()
                        || __hooks.on_replace.is_none(),
                    "`on_upsert` can never run beside both `on_create` and `on_replace`"
                );
            },
        ];
        let conditions = options.only.iter().flatten().count() + usize::from(soft_delete);
        checks.push(quote_spanned! {ident.span()=>
            ::core::assert!(
                __hooks.have_room_for(#conditions),
                "this projection and its hooks have more than 128 conditions"
            );
        });
        let deletes = self.row.as_ref().is_some_and(|row| row.removal.is_some());
        if let Some((span, _)) = options.soft_delete {
            checks.push(quote_spanned! {span=>
                ::core::assert!(
                    __hooks.on_delete.is_some() || #deletes,
                    "`soft_delete` makes a delete of a write, but no hook takes it: add `#[on_delete]`"
                );
            });
        }
        if let Some((span, Mode::LatestVersion)) = options.mode {
            if self.deletes_rows() {
                checks.push(quote_spanned! {span=>
                    ::core::assert!(false, "`mode = latest_version` shows no deletes to `on_delete`: leave `mode` out, or say `soft_delete`");
                });
            }
            for (field, cause) in CAUSES {
                let message =
                    format!("`mode = latest_version` has nothing for {cause}: leave `mode` out");
                checks.push(forces(span, field, soft_delete, &message));
            }
        }
        if let Some((span, start @ (Start::Beginning | Start::At(_)))) = options.start {
            let from = match start {
                Start::Beginning => "from the beginning",
                _ => "from a time",
            };
            if matches!(options.mode, Some((_, Mode::AllVersionsAndDeletes))) {
                let message = format!(
                    "an all-versions feed can't be read {from}: leave `mode` or `start` out"
                );
                checks.push(quote_spanned!(span=> ::core::assert!(false, "{}", #message);));
            }
            if self.deletes_rows() {
                let message = format!(
                    "`on_delete` without `soft_delete` needs the all-versions feed, which can't be read {from}: start `now`"
                );
                checks.push(quote_spanned!(span=> ::core::assert!(false, "{}", #message);));
            }
            for (field, cause) in CAUSES {
                let message = format!(
                    "{cause} needs the all-versions feed, which can't be read {from}: \
                     start `now`, or keep to hooks that the latest version is enough for"
                );
                checks.push(forces(span, field, soft_delete, &message));
            }
        }
        let this = if generics.params.is_empty() {
            quote!(#ident)
        } else {
            quote!(Self)
        };
        let decoys = Decoy::ALL.map(Decoy::constant);
        quote! {
            // A decoy has its own error, and what is said of its hooks would only echo it.
            if !(#(#this::#decoys)||*) {
                #(#checks)*
            }
        }
    }
}

/// What forces the all-versions mode: how the framework names it, and how people do.
const CAUSES: [(&str, &str); 5] = [
    ("OnCreate", "`on_create`"),
    ("OnReplace", "`on_replace`"),
    ("OnExpire", "`on_expire`"),
    ("OnDelete", "`on_delete` without `soft_delete`"),
    ("Previous", "a hook that takes `Previous<T>`"),
];

/// Refuses a cause of the all-versions mode.
fn forces(span: Span, cause: &str, soft_delete: bool, message: &str) -> TokenStream {
    let cause = Ident::new(cause, Span::call_site());
    quote_spanned! {span=>
        ::core::assert!(!__p::Cause::#cause.is_in(&__hooks, #soft_delete), "{}", #message);
    }
}
