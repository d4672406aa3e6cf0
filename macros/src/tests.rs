//! Expansions, as committed files. `SNAPSHOTS=overwrite cargo test -p projectionist-macros` writes
//! them anew.

use proc_macro2::TokenStream;
use quote::quote;
use snapbox::{Assert, Data, file};

use crate::decoy::{self, Decoy};
use crate::kind::HookKind;
use crate::{hook, projection, row};

/// Compares source text, formatted, with a committed file.
fn check(code: &TokenStream, expected: Data) {
    let parsed = syn::parse2(code.clone()).unwrap();
    let assert = Assert::new().action_env("SNAPSHOTS");
    assert.eq(prettyplease::unparse(&parsed), expected);
}

fn method(kind: HookKind, attr: TokenStream, item: TokenStream) -> TokenStream {
    let items = hook::expand(kind, attr, item);
    quote!(impl Billing { #items })
}

#[test]
fn a_minimal_projection() {
    let code = projection::expand(
        quote!(collection = "users", name = "billing"),
        &quote!(
            pub struct Billing;
        ),
    );
    check(&code, file!["tests/output/projection_minimal.rs"]);
}

#[test]
fn a_projection_with_every_option() {
    let code = projection::expand(
        quote! {
            collection = "users",
            name = "billing",
            mode = latest_version,
            only(type = "user", contact.kind in ("a", -1, true, null)),
            soft_delete(deletedAt),
            start = "2026-01-31T00:00:00Z",
            batch = 500,
            ddl(sqlite = "billing.sql", postgres = "create table billing (id text)"),
            init = Billing::new,
            register = true,
            crate = renamed,
        },
        &quote! {
            struct Billing {
                currency: String,
            }
        },
    );
    check(&code, file!["tests/output/projection_every_option.rs"]);
}

#[test]
fn a_generic_projection() {
    let code = projection::expand(
        quote!(
            collection = "users",
            name = "search",
            register = false,
            init = Search::new
        ),
        &quote! {
            pub struct Search<T>(T) where T: Send + Sync + 'static;
        },
    );
    check(&code, file!["tests/output/projection_generic.rs"]);
}

#[test]
fn a_broken_projection_is_still_one() {
    let code = projection::expand(
        quote!(collection = "users"),
        &quote!(
            pub struct Billing;
        ),
    );
    check(&code, file!["tests/output/projection_broken.rs"]);
}

#[test]
fn on_upsert_with_everything() {
    let code = method(
        HookKind::Upsert,
        quote!(only(plan = "pro"), crate = renamed),
        quote! {
            /// Charges.
            #[cfg(feature = "charge")]
            async fn charge(&self, user: Change<User>, mut tx: Tx<'_>) -> Result<(), TxError> {
                Ok(())
            }
        },
    );
    check(&code, file!["tests/output/on_upsert.rs"]);
}

#[test]
fn hooks_without_arguments() {
    let cases = [
        (HookKind::Create, file!["tests/output/on_create.rs"]),
        (HookKind::Replace, file!["tests/output/on_replace.rs"]),
        (HookKind::Delete, file!["tests/output/on_delete.rs"]),
        (HookKind::Expire, file!["tests/output/on_expire.rs"]),
    ];
    for (kind, expected) in cases {
        let item = quote!(
            async fn tell() {}
        );
        check(&method(kind, TokenStream::new(), item), expected);
    }
}

/// The outer attribute of several leaves the inner ones for the compiler to expand.
#[test]
fn stacked_hooks() {
    let item = quote! {
        #[on_delete]
        async fn log(&self, id: DocumentId) {}
    };
    let code = method(HookKind::Create, TokenStream::new(), item);
    check(&code, file!["tests/output/stacked.rs"]);
}

#[test]
fn a_broken_hook() {
    let item = quote!(
        fn log(&mut self) {}
    );
    let code = method(HookKind::Create, TokenStream::new(), item);
    check(&code, file!["tests/output/broken.rs"]);
}

#[test]
fn a_decoy() {
    let items = decoy::expand(
        Decoy::Update,
        &quote!(
            async fn keep(&self, user: Change<User>) {}
        ),
    );
    let code = quote!(impl Billing { #items });
    check(&code, file!["tests/output/decoy.rs"]);
}

#[test]
fn another_path_to_the_crate_is_the_only_one() {
    let attr = quote!(collection = "users", name = "billing", crate = renamed);
    let code = projection::expand(
        attr,
        &quote!(
            struct Billing;
        ),
    );
    let hook = hook::expand(
        HookKind::Upsert,
        quote!(crate = renamed),
        quote!(
            async fn keep(&self, user: Change<User>) {}
        ),
    );
    for code in [code, hook] {
        let code = code.to_string();
        assert!(code.contains("renamed"));
        assert!(!code.contains("projectionist"), "{code}");
    }
}

#[test]
fn a_half_typed_body_still_expands() {
    let item: TokenStream = "async fn charge(&self, user: Change<User>) { user. }"
        .parse()
        .unwrap();
    let code = hook::expand(HookKind::Upsert, TokenStream::new(), item.clone()).to_string();
    assert!(code.contains(&item.to_string()));
    assert!(code.contains("__projection_on_upsert"));
}

#[test]
fn half_typed_heads_come_back_as_they_were() {
    let method: TokenStream = "async fn charge(&self, user: )".parse().unwrap();
    let code = hook::expand(HookKind::Upsert, TokenStream::new(), method.clone());
    assert_eq!(code.to_string(), method.to_string());

    let item: TokenStream = "pub struct Billing { currency: }".parse().unwrap();
    let attr = quote!(collection = "users", name = "billing");
    let code = projection::expand(attr, &item);
    assert_eq!(code.to_string(), item.to_string());
}

#[test]
fn half_typed_options_lose_nothing() {
    let item: TokenStream = quote!(
        struct Billing;
    );
    for attr in ["coll", "collection =", "only(", "name = \"billing\","] {
        let Ok(attr) = attr.parse() else { continue };
        let code = projection::expand(attr, &item).to_string();
        assert!(code.starts_with(&item.to_string()), "{code}");
    }
}

#[test]
fn a_row_projection() {
    let code = projection::expand(
        quote! {
            collection = "store",
            name = "orders",
            table = "orders",
            only(type = "salesOrder"),
            soft_delete(deletedAt),
        },
        &quote! {
            #[derive(Debug)]
            #[on_delete(set(total = 0, note = "gone"))]
            pub struct Order {
                #[column(key)]
                id: String,
                #[column(from = "amount.total", default = 7)]
                total: i64,
                #[column(from = "amount", with = parse)]
                amount: Amount,
                note: Option<String>,
                #[column(each = "details.lines", table = "order_lines")]
                lines: Vec<Line>,
            }
        },
    );
    check(&code, file!["tests/output/row_projection.rs"]);
}

#[test]
fn a_row_of_a_child_table() {
    let code = row::derive(quote! {
        #[column(crate = renamed)]
        struct Line {
            #[column(key)]
            sku: String,
            #[column(default)]
            count: i64,
        }
    });
    check(&code, file!["tests/output/row_child.rs"]);
}
