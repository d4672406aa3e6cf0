impl Billing {
    async fn keep(&self, user: Change<User>) {}
    ::core::compile_error! {
        "there is no `#[on_update]`: use `#[on_upsert]` for every write, `#[on_replace]` for replaces only (all-versions mode)"
    }
    #[doc(hidden)]
    #[allow(dead_code, non_upper_case_globals, unreachable_pub, reason = "generated")]
    pub const __projection_on_update: bool = true;
}
