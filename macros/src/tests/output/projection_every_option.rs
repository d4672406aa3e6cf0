struct Billing {
    currency: String,
}
const _: () = {
    #[allow(unused_imports, reason = "generated")]
    use renamed::__private0 as __p;
    #[allow(unused_imports, reason = "generated")]
    use __p::{AsJson as _, NoHooks as _};
    #[automatically_derived]
    impl __p::Projection for Billing {
        const SPEC: __p::Spec = __p::Spec {
            name: "billing",
            collection: "users",
            only: &[
                __p::Condition {
                    path: &["type"],
                    test: __p::Test::In(&[__p::Literal::Text("user")]),
                },
                __p::Condition {
                    path: &["contact", "kind"],
                    test: __p::Test::In(
                        &[
                            __p::Literal::Text("a"),
                            __p::Literal::Integer(-1i64),
                            __p::Literal::Bool(true),
                            __p::Literal::Null,
                        ],
                    ),
                },
            ],
            soft_delete: ::core::option::Option::Some(__p::Condition {
                path: &["deletedAt"],
                test: __p::Test::Set,
            }),
            start: ::core::option::Option::Some(__p::Start::At(1769817600i64)),
            batch: ::core::option::Option::Some(500u32),
            ddl: ::core::option::Option::Some(__p::Ddl {
                sqlite: ::core::option::Option::Some(
                    ::core::include_str!("billing.sql"),
                ),
                postgres: ::core::option::Option::Some("create table billing (id text)"),
            }),
            table: ::core::option::Option::None,
        };
        const HOOKS: __p::Hooks = {
            let __hooks = __p::Hooks {
                on_upsert: Self::__projection_on_upsert,
                on_create: Self::__projection_on_create,
                on_replace: Self::__projection_on_replace,
                on_delete: Self::__projection_on_delete,
                on_expire: Self::__projection_on_expire,
            };
            __hooks
        };
        const MODE: __p::Mode = __p::Mode::LatestVersion;
        fn build(__states: &__p::States) -> ::core::result::Result<Self, __p::BoxError> {
            let _ = __states;
            __p::IntoProjection::<Self>::into_projection((Billing::new)(__states))
        }
        fn apply_page<'__a>(
            __this: ::core::option::Option<&'__a Self>,
            mut __page: __p::Page<'__a>,
        ) -> __p::BoxFuture<'__a, __p::Outcome> {
            ::std::boxed::Box::pin(async move {
                while let ::core::option::Option::Some((__kind, __cx)) = __page.advance()
                {
                    let __answer = match __kind {
                        __p::Kind::Upsert => {
                            Self::__a_projection_has_one_on_upsert(__this, __cx).await
                        }
                        __p::Kind::Create => {
                            Self::__a_projection_has_one_on_create(__this, __cx).await
                        }
                        __p::Kind::Replace => {
                            Self::__a_projection_has_one_on_replace(__this, __cx).await
                        }
                        __p::Kind::Delete => {
                            Self::__a_projection_has_one_on_delete(__this, __cx).await
                        }
                        __p::Kind::Expire => {
                            Self::__a_projection_has_one_on_expire(__this, __cx).await
                        }
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
    const _: () = {
        let __hooks = <Billing as __p::Projection>::HOOKS;
        if !(Billing::__projection_on_update || Billing::__projection_on_insert
            || Billing::__projection_on_write || Billing::__projection_on_change
            || Billing::__projection_on_remove)
        {
            ::core::assert!(
                ! __hooks.is_empty(),
                "this projection has no hooks: put `#[on_upsert]` on a method"
            );
            ::core::assert!(
                __hooks.on_upsert.is_none() || __hooks.on_create.is_none() || __hooks
                .on_replace.is_none(),
                "`on_upsert` can never run beside both `on_create` and `on_replace`"
            );
            ::core::assert!(
                __hooks.have_room_for(3usize),
                "this projection and its hooks have more than 128 conditions"
            );
            ::core::assert!(
                __hooks.on_delete.is_some() || false,
                "`soft_delete` makes a delete of a write, but no hook takes it: add `#[on_delete]`"
            );
            ::core::assert!(
                ! __p::Cause::OnCreate.is_in(& __hooks, true), "{}",
                "`mode = latest_version` has nothing for `on_create`: leave `mode` out"
            );
            ::core::assert!(
                ! __p::Cause::OnReplace.is_in(& __hooks, true), "{}",
                "`mode = latest_version` has nothing for `on_replace`: leave `mode` out"
            );
            ::core::assert!(
                ! __p::Cause::OnExpire.is_in(& __hooks, true), "{}",
                "`mode = latest_version` has nothing for `on_expire`: leave `mode` out"
            );
            ::core::assert!(
                ! __p::Cause::OnDelete.is_in(& __hooks, true), "{}",
                "`mode = latest_version` has nothing for `on_delete` without `soft_delete`: leave `mode` out"
            );
            ::core::assert!(
                ! __p::Cause::Previous.is_in(& __hooks, true), "{}",
                "`mode = latest_version` has nothing for a hook that takes `Previous<T>`: leave `mode` out"
            );
            ::core::assert!(
                ! __p::Cause::OnCreate.is_in(& __hooks, true), "{}",
                "`on_create` needs the all-versions feed, which can't be read from a time: start `now`, or keep to hooks that the latest version is enough for"
            );
            ::core::assert!(
                ! __p::Cause::OnReplace.is_in(& __hooks, true), "{}",
                "`on_replace` needs the all-versions feed, which can't be read from a time: start `now`, or keep to hooks that the latest version is enough for"
            );
            ::core::assert!(
                ! __p::Cause::OnExpire.is_in(& __hooks, true), "{}",
                "`on_expire` needs the all-versions feed, which can't be read from a time: start `now`, or keep to hooks that the latest version is enough for"
            );
            ::core::assert!(
                ! __p::Cause::OnDelete.is_in(& __hooks, true), "{}",
                "`on_delete` without `soft_delete` needs the all-versions feed, which can't be read from a time: start `now`, or keep to hooks that the latest version is enough for"
            );
            ::core::assert!(
                ! __p::Cause::Previous.is_in(& __hooks, true), "{}",
                "a hook that takes `Previous<T>` needs the all-versions feed, which can't be read from a time: start `now`, or keep to hooks that the latest version is enough for"
            );
        }
    };
    __p::inventory::submit! {
        __p::ProjectionDef::of:: < Billing > (__p::Location { file : ::core::file!(),
        line : ::core::line!(), })
    }
};
