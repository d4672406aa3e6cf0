//! What became of one change.

use std::error::Error;
use std::fmt::Display;
use std::time::Duration;

/// Any error. `anyhow::Error`, `String` and every `std::error::Error` convert.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What a hook says of a change, and so what the runtime does next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Applied: commit and move on.
    Done,
    /// Of no interest: counts as done.
    Skip,
    /// Not now: roll the page back and read it again after this long.
    RetryAfter(Duration),
    /// Hopeless: no retry will help.
    Poison(BoxError),
}

impl Verdict {
    /// Not now: roll the page back and read it again after `delay`.
    pub const fn retry_after(delay: Duration) -> Self {
        Self::RetryAfter(delay)
    }

    /// Hopeless, and why.
    pub fn poison(reason: impl Display) -> Self {
        Self::Poison(reason.to_string().into())
    }
}

/// What a hook may return.
#[diagnostic::on_unimplemented(
    message = "a hook can't return `{Self}`",
    label = "expected `()`, `Verdict`, `Result<(), E>` or `Result<Verdict, E>`",
    note = "`E` is any error: `BoxError`, `anyhow::Error`, `String`, or your own `std::error::Error`"
)]
pub trait IntoVerdict {
    /// Converts the return value.
    ///
    /// # Errors
    ///
    /// The hook's own error: the page is rolled back and read again.
    fn into_verdict(self) -> Result<Verdict, BoxError>;
}

impl IntoVerdict for () {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(Verdict::Done)
    }
}

impl IntoVerdict for Verdict {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        Ok(self)
    }
}

impl<T: IntoVerdict, E: Into<BoxError>> IntoVerdict for Result<T, E> {
    fn into_verdict(self) -> Result<Verdict, BoxError> {
        self.map_err(Into::into)?.into_verdict()
    }
}
