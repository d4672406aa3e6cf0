impl Billing {
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unused_async,
        clippy::unused_self,
        reason = "the signature is the hook's"
    )]
    fn log(&mut self) {}
    #[doc(hidden)]
    #[allow(dead_code, unreachable_pub, reason = "generated")]
    pub fn __a_projection_has_one_on_create<'__a>(
        __this: ::core::option::Option<&'__a Self>,
        __cx: ::projectionist::__private0::HookCx<'__a>,
    ) -> impl ::core::future::Future<
        Output = ::projectionist::__private0::Answer,
    > + ::core::marker::Send + '__a {
        async move { ::core::unreachable!() }
    }
    #[doc(hidden)]
    #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
    pub const __projection_on_create: ::core::option::Option<
        ::projectionist::__private0::Hook,
    > = {
        #[allow(unused_imports, reason = "generated")]
        use ::projectionist::__private0 as __p;
        ::core::compile_error! {
            "a hook is an `async fn`: `#[on_create] async fn log`"
        }
        ::core::compile_error! {
            "a hook borrows its projection as `&self`: several ranges use it at once"
        }
        __p::is_projection::<Self>();
        let __needs = __p::Needs::NOTHING;
        ::core::option::Option::Some(__p::Hook {
            name: "log",
            needs: __needs,
            states: const { &[] },
            databases: const { &[] },
            only: const { &[] },
            takes_self: true,
        })
    };
}
