//! Where the parser is: looking at the next token, taking it, and complaining about it.

use super::super::QueryError;
use super::super::token::Kind;
use super::Parser;

impl Parser<'_> {
    pub(super) fn kind(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    /// The kind of the token after this one.
    pub(super) fn following(&self) -> &Kind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + 1).min(last)].kind
    }

    pub(super) fn offset(&self) -> usize {
        self.tokens[self.at].offset
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Word(found) if found.eq_ignore_ascii_case(word))
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), QueryError> {
        if self.take_word(word) {
            Ok(())
        } else {
            Err(self.unexpected(word))
        }
    }

    /// Any word, reserved or not.
    pub(super) fn word(&mut self, wanted: &str) -> Result<String, QueryError> {
        match self.kind() {
            Kind::Word(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.kind(), Kind::Symbol(found) if *found == symbol)
    }

    pub(super) fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect_symbol(&mut self, symbol: &str) -> Result<(), QueryError> {
        if self.take_symbol(symbol) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{symbol}`")))
        }
    }

    /// An error about the token here.
    pub(super) fn refusal(&self, message: impl Into<String>) -> QueryError {
        QueryError::at(self.offset(), message)
    }

    pub(super) fn unexpected(&self, wanted: &str) -> QueryError {
        self.refusal(format!("{wanted} expected, {} found", self.kind().name()))
    }
}
