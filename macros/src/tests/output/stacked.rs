impl Billing {
    #[on_delete]
    async fn log(&self, id: DocumentId) {}
    #[doc(hidden)]
    #[allow(dead_code, unreachable_pub, reason = "generated")]
    pub fn __a_projection_has_one_on_create<'__a>(
        __this: ::core::option::Option<&'__a Self>,
        __cx: ::projectionist::__private0::HookCx<'__a>,
    ) -> impl ::core::future::Future<
        Output = ::projectionist::__private0::Answer,
    > + ::core::marker::Send + '__a {
        #[allow(unused_imports, reason = "generated")]
        use ::projectionist::__private0 as __p;
        async move {
            let ::core::option::Option::Some(__this) = __this else {
                ::core::unreachable!()
            };
            let mut __cx = __cx;
            let __arg0 = match <DocumentId as __p::Extract<'_>>::extract(&mut __cx) {
                ::core::result::Result::Ok(argument) => argument,
                ::core::result::Result::Err(error) => {
                    return ::core::result::Result::Err(__p::Failure::Argument(error));
                }
            };
            let __returned = Self::log(__this, __arg0).await;
            __p::IntoVerdict::into_verdict(__returned).map_err(__p::Failure::Hook)
        }
    }
    #[doc(hidden)]
    #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
    pub const __projection_on_create: ::core::option::Option<
        ::projectionist::__private0::Hook,
    > = {
        #[allow(unused_imports, reason = "generated")]
        use ::projectionist::__private0 as __p;
        let __needs = __p::Needs::NOTHING;
        ::core::assert!(
            < DocumentId as __p::Extract < '_ >> ::KINDS.contains(__p::Kind::Create),
            "{}", "`on_create` can't give `DocumentId`: take `Option<DocumentId>`"
        );
        ::core::assert!(
            ! __needs.clashes(< DocumentId as __p::Extract < '_ >> ::NEEDS), "{}",
            "`log` takes `Tx` twice, but a page has one transaction"
        );
        let __needs = __needs.or(<DocumentId as __p::Extract<'_>>::NEEDS);
        ::core::option::Option::Some(__p::Hook {
            name: "log",
            needs: __needs,
            states: const { &[<DocumentId as __p::Extract<'_>>::STATE] },
            databases: const { &[<DocumentId as __p::Extract<'_>>::DATABASE] },
            only: const { &[] },
            takes_self: true,
        })
    };
}
