//! The words of a query text: what the grammar's rules are made of, each with its offset.
//!
//! Everything that the service's own language has as a symbol is a token here too, so that the
//! parser can say what is not supported instead of stumbling over a character.

use serde_json::Number;

use super::QueryError;

/// What SDKs put into a rewritten query for the filter with which they resume an order.
pub(super) const PLACEHOLDER: &str = "{documentdb-formattableorderbyquery-filter}";

/// Longest first, for the reader takes the first that fits.
const SYMBOLS: [&str; 29] = [
    ">>>", "!=", "<>", "<=", ">=", "<<", ">>", "??", "||", "(", ")", "[", "]", "{", "}", ",", ".",
    ":", "=", "<", ">", "*", "+", "-", "/", "%", "&", "|", "?",
];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A keyword, a name of a function, an alias or a property.
    Word(String),
    /// A string literal, escapes resolved.
    Text(String),
    Number(Number),
    /// A parameter, with its `@`.
    Parameter(String),
    Symbol(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Where it begins, in bytes of the text.
    pub(super) offset: usize,
}

impl Kind {
    /// How a message names it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", shortened(word)),
            Self::Text(_) => "a string".into(),
            Self::Number(number) => format!("`{number}`"),
            Self::Parameter(name) => format!("`{}`", shortened(name)),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "the end of the query".into(),
        }
    }
}

/// A word as messages show it: hostile input does not make a message long.
pub(super) fn shortened(word: &str) -> String {
    if word.chars().count() <= 64 {
        return word.into();
    }
    let mut shown: String = word.chars().take(64).collect();
    shown.push('…');
    shown
}

/// Takes a text apart; the last token is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, QueryError> {
    let mut reader = Reader { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        reader.skip()?;
        let offset = reader.at;
        let kind = reader.token()?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, offset });
        if end {
            return Ok(tokens);
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += found.len_utf8();
        Some(found)
    }

    /// The characters from here on that fit.
    fn run(&mut self, fits: impl Fn(char) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Passes white space and comments.
    fn skip(&mut self) -> Result<(), QueryError> {
        loop {
            self.run(char::is_whitespace);
            let start = self.at;
            if self.rest().starts_with("--") {
                self.run(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let Some(length) = self.rest()[2..].find("*/") else {
                    return Err(QueryError::at(start, "a comment has no end"));
                };
                self.at += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Kind, QueryError> {
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok(Kind::End);
        };
        if self.rest().starts_with(PLACEHOLDER) {
            return Err(QueryError::at(
                start,
                "the placeholder of a resumed order must be replaced by a filter or by `true` \
                 before the query is sent",
            ));
        }
        if is_initial(first) {
            return Ok(Kind::Word(self.run(is_part).into()));
        }
        if first == '@' {
            self.next();
            let name = self.run(is_part);
            if name.is_empty() {
                return Err(QueryError::at(start, "`@` without a parameter's name"));
            }
            return Ok(Kind::Parameter(format!("@{name}")));
        }
        if first == '"' || first == '\'' {
            return self.string(first).map(Kind::Text);
        }
        let after_point = self.rest()[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() || (first == '.' && after_point) {
            return self.number().map(Kind::Number);
        }
        let symbol = SYMBOLS.iter().find(|s| self.rest().starts_with(**s));
        let Some(symbol) = symbol else {
            return Err(QueryError::at(
                start,
                format!(
                    "the character `{}` is not supported here",
                    first.escape_default()
                ),
            ));
        };
        self.at += symbol.len();
        Ok(Kind::Symbol(symbol))
    }

    fn number(&mut self) -> Result<Number, QueryError> {
        let start = self.at;
        let digit = |c: char| c.is_ascii_digit();
        self.run(digit);
        if self.peek() == Some('.') {
            self.next();
            if self.run(digit).is_empty() {
                return Err(QueryError::at(start, "a number ends in a point"));
            }
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.next();
            if matches!(self.peek(), Some('+' | '-')) {
                self.next();
            }
            if self.run(digit).is_empty() {
                return Err(QueryError::at(start, "a number's exponent has no digits"));
            }
        }
        if self.peek().is_some_and(is_part) {
            return Err(QueryError::at(
                start,
                "a number is followed by a letter or a digit",
            ));
        }
        let text = &self.text[start..self.at];
        if let Ok(number) = text.parse::<u64>() {
            return Ok(number.into());
        }
        let number = text.parse::<f64>().ok().and_then(Number::from_f64);
        number.ok_or_else(|| {
            let message = format!(
                "the number {} is out of the range of a double",
                shortened(text)
            );
            QueryError::at(start, message)
        })
    }

    fn string(&mut self, quote: char) -> Result<String, QueryError> {
        let start = self.at;
        self.next();
        let mut content = String::new();
        loop {
            let at = self.at;
            match self.next() {
                None => return Err(QueryError::at(start, "a string has no end")),
                Some('\\') => content.push(self.escape(at)?),
                Some(c) if c == quote => break,
                Some(c) => content.push(c),
            }
        }
        if self.peek() == Some(quote) {
            return Err(QueryError::at(
                self.at,
                format!("a doubled quote is not supported, write `\\{quote}` inside a string"),
            ));
        }
        Ok(content)
    }

    /// What follows a backslash that stands at `at`.
    fn escape(&mut self, at: usize) -> Result<char, QueryError> {
        Ok(match self.next() {
            Some(c @ ('"' | '\'' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let high = self.unit(at)?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high).ok_or_else(|| surrogate(at));
                }
                if !self.rest().starts_with("\\u") {
                    return Err(surrogate(at));
                }
                self.at += 2;
                let low = self.unit(at)?;
                if !(0xdc00..0xe000).contains(&low) {
                    return Err(surrogate(at));
                }
                let scalar = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                char::from_u32(scalar).ok_or_else(|| surrogate(at))?
            }
            _ => {
                return Err(QueryError::at(
                    at,
                    "unknown escape in a string; known are \\\" \\' \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                ));
            }
        })
    }

    /// The four hexadecimal digits of a `\u`.
    fn unit(&mut self, at: usize) -> Result<u32, QueryError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|c| c.to_digit(16));
            let digit =
                digit.ok_or_else(|| QueryError::at(at, "\\u needs four hexadecimal digits"))?;
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }
}

fn surrogate(at: usize) -> QueryError {
    QueryError::at(
        at,
        "\\u gives half of a surrogate pair, which is no character",
    )
}

pub(super) fn is_initial(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

pub(super) fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
