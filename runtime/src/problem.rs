//! What a user is told: a stable code, a sentence, what it concerns, and the way out.

pub(crate) mod causes;
pub mod codes;

use std::fmt;

use projectionist::verdict::BoxError;

/// A problem that stops a command or a projection.
#[derive(Debug)]
pub struct Problem {
    /// The stable code: `duplicate-projection`. The book lists them all.
    pub code: &'static str,
    /// What is wrong, and what it concerns: a lower-case fragment.
    pub message: String,
    /// The way out, as a sentence.
    pub help: String,
    /// What it comes from.
    pub source: Option<BoxError>,
}

impl Problem {
    /// A problem with its way out.
    pub fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: help.into(),
            source: None,
        }
    }

    /// The same, with what it comes from.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Everything that is wrong, at once. Never empty.
#[derive(Debug)]
pub struct Problems(pub Vec<Problem>);

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
