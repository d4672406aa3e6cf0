impl Billing {
    #[allow(
        clippy::needless_pass_by_value,
        clippy::unused_async,
        clippy::unused_self,
        reason = "the signature is the hook's"
    )]
    /// Charges.
    #[cfg(feature = "charge")]
    async fn charge(&self, user: Change<User>, mut tx: Tx<'_>) -> Result<(), TxError> {
        Ok(())
    }
    #[cfg(feature = "charge")]
    #[doc(hidden)]
    #[allow(dead_code, unreachable_pub, reason = "generated")]
    pub fn __a_projection_has_one_on_upsert<'__a>(
        __this: ::core::option::Option<&'__a Self>,
        __cx: renamed::__private0::HookCx<'__a>,
    ) -> impl ::core::future::Future<
        Output = renamed::__private0::Answer,
    > + ::core::marker::Send + '__a {
        #[allow(unused_imports, reason = "generated")]
        use renamed::__private0 as __p;
        async move {
            let ::core::option::Option::Some(__this) = __this else {
                ::core::unreachable!()
            };
            let mut __cx = __cx;
            let __arg0 = match <Change<User> as __p::Extract<'_>>::extract(&mut __cx) {
                ::core::result::Result::Ok(argument) => argument,
                ::core::result::Result::Err(error) => {
                    return ::core::result::Result::Err(__p::Failure::Argument(error));
                }
            };
            let __arg1 = match <Tx<'_> as __p::Extract<'_>>::extract(&mut __cx) {
                ::core::result::Result::Ok(argument) => argument,
                ::core::result::Result::Err(error) => {
                    return ::core::result::Result::Err(__p::Failure::Argument(error));
                }
            };
            let __returned = Self::charge(__this, __arg0, __arg1).await;
            <Result<(), TxError> as __p::IntoVerdict>::into_verdict(__returned)
                .map_err(__p::Failure::Hook)
        }
    }
    #[cfg(feature = "charge")]
    #[doc(hidden)]
    #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
    pub const __projection_on_upsert: ::core::option::Option<
        renamed::__private0::Hook,
    > = {
        #[allow(unused_imports, reason = "generated")]
        use renamed::__private0 as __p;
        __p::is_projection::<Self>();
        let __needs = __p::Needs::NOTHING;
        ::core::assert!(
            < Change < User > as __p::Extract < '_ >> ::KINDS
            .contains(__p::Kind::Upsert), "{}",
            "`on_upsert` can't give `Change<User>`: take `Option<Change<User>>`"
        );
        ::core::assert!(
            ! __needs.clashes(< Change < User > as __p::Extract < '_ >> ::NEEDS), "{}",
            "`charge` takes `Tx` twice, but a page has one transaction"
        );
        let __needs = __needs.or(<Change<User> as __p::Extract<'_>>::NEEDS);
        ::core::assert!(
            < Tx < '_ > as __p::Extract < '_ >> ::KINDS.contains(__p::Kind::Upsert),
            "{}", "`on_upsert` can't give `Tx<'_>`: take `Option<Tx<'_>>`"
        );
        ::core::assert!(
            ! __needs.clashes(< Tx < '_ > as __p::Extract < '_ >> ::NEEDS), "{}",
            "`charge` takes `Tx` twice, but a page has one transaction"
        );
        let __needs = __needs.or(<Tx<'_> as __p::Extract<'_>>::NEEDS);
        ::core::option::Option::Some(__p::Hook {
            name: "charge",
            needs: __needs,
            states: const {
                &[
                    <Change<User> as __p::Extract<'_>>::STATE,
                    <Tx<'_> as __p::Extract<'_>>::STATE,
                ]
            },
            databases: const {
                &[
                    <Change<User> as __p::Extract<'_>>::DATABASE,
                    <Tx<'_> as __p::Extract<'_>>::DATABASE,
                ]
            },
            only: const {
                &[
                    __p::Condition {
                        path: &["plan"],
                        test: __p::Test::In(&[__p::Literal::Text("pro")]),
                    },
                ]
            },
            takes_self: true,
        })
    };
}
