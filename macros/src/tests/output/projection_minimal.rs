pub struct Billing;
const _: () = {
    #[allow(unused_imports, reason = "generated")]
    use ::projectionist::__private0 as __p;
    #[allow(unused_imports, reason = "generated")]
    use __p::{AsJson as _, NoHooks as _};
    #[automatically_derived]
    impl __p::Projection for Billing {
        const SPEC: __p::Spec = __p::Spec {
            name: "billing",
            collection: "users",
            only: &[],
            soft_delete: ::core::option::Option::None,
            start: ::core::option::Option::None,
            batch: ::core::option::Option::None,
            ddl: ::core::option::Option::None,
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
        const MODE: __p::Mode = <Self as __p::Projection>::HOOKS.mode(false);
        fn build(__states: &__p::States) -> ::core::result::Result<Self, __p::BoxError> {
            let _ = __states;
            ::core::result::Result::Ok(Self {})
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
                __hooks.have_room_for(0usize),
                "this projection and its hooks have more than 128 conditions"
            );
        }
    };
    __p::inventory::submit! {
        __p::ProjectionDef::of:: < Billing > (__p::Location { file : ::core::file!(),
        line : ::core::line!(), })
    }
};
