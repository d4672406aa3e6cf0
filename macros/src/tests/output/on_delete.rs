impl Billing {
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unused_async,
        clippy::unused_self,
        reason = "the signature is the hook's"
    )]
    async fn tell() {}
    #[doc(hidden)]
    #[allow(dead_code, unreachable_pub, reason = "generated")]
    pub fn __a_projection_has_one_on_delete<'__a>(
        __this: ::core::option::Option<&'__a Self>,
        __cx: ::projectionist::__private0::HookCx<'__a>,
    ) -> impl ::core::future::Future<
        Output = ::projectionist::__private0::Answer,
    > + ::core::marker::Send + '__a {
        #[allow(unused_imports, reason = "generated")]
        use ::projectionist::__private0 as __p;
        async move {
            let _ = __this;
            let __returned = Self::tell().await;
            __p::IntoVerdict::into_verdict(__returned).map_err(__p::Failure::Hook)
        }
    }
    #[doc(hidden)]
    #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
    pub const __projection_on_delete: ::core::option::Option<
        ::projectionist::__private0::Hook,
    > = {
        #[allow(unused_imports, reason = "generated")]
        use ::projectionist::__private0 as __p;
        __p::is_projection::<Self>();
        let __needs = __p::Needs::NOTHING;
        ::core::option::Option::Some(__p::Hook {
            name: "tell",
            needs: __needs,
            states: const { &[] },
            databases: const { &[] },
            only: const { &[] },
            takes_self: false,
        })
    };
}
