//! From tokens to a query: the clauses, and the rules between them.
//!
//! A rule that the service reads in more than one way, or that this engine does not evaluate, ends
//! in an error that names it: a query is answered rightly or not at all.

mod call;
mod cursor;
mod expression;

use std::collections::HashMap;

use serde_json::Value;

use super::syntax::{Expression, Selection, Sort, Window, is_reserved};
use super::token::{Kind, Token, shortened, tokens};
use super::{Query, QueryError};

pub(super) struct Parser<'p> {
    tokens: Vec<Token>,
    at: usize,
    /// How deeply nested the place is.
    depth: usize,
    /// Values by names with `@`.
    parameters: &'p HashMap<String, Value>,
    /// The first words of paths, to be compared with the alias once `FROM` is read.
    roots: Vec<(String, usize)>,
    place: Place,
    /// How many `COUNT`s were read.
    counts: usize,
}

/// Where an expression stands, which decides whether `COUNT` may.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Selection,
    /// Inside what `COUNT` counts.
    Count,
    Elsewhere,
}

/// Reads a query.
pub(super) fn parse(text: &str, parameters: &HashMap<String, Value>) -> Result<Query, QueryError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        parameters,
        roots: Vec::new(),
        place: Place::Elsewhere,
        counts: 0,
    };
    parser.query()
}

impl Parser<'_> {
    fn query(&mut self) -> Result<Query, QueryError> {
        self.expect_word("SELECT")?;
        if self.is_word("DISTINCT") {
            return Err(self.refusal("DISTINCT is not supported"));
        }
        let top_at = self.offset();
        let top = if self.take_word("TOP") {
            Some(self.amount("TOP")?)
        } else {
            None
        };
        let selected_at = self.offset();
        self.place = Place::Selection;
        let selection = self.selection()?;
        self.place = Place::Elsewhere;
        if !self.is_word("FROM") {
            return Err(self.unexpected("`,` or FROM"));
        }
        let alias = self.source()?;
        let filter = if self.take_word("WHERE") {
            Some(self.expression()?)
        } else {
            None
        };
        if self.is_word("GROUP") {
            return Err(self.refusal("GROUP BY is not supported"));
        }
        let order_at = self.offset();
        let order = self.order()?;
        let window_at = self.offset();
        let window = self.window()?;
        self.end()?;
        for (root, offset) in &self.roots {
            if *root != alias {
                let message = format!(
                    "`{}` is not the collection's name in this query, which is `{}`",
                    shortened(root),
                    shortened(&alias)
                );
                return Err(QueryError::at(*offset, message));
            }
        }
        let counts = match &selection {
            Selection::Document => 0,
            Selection::Value(value) => value.counts(),
            Selection::Fields(fields) => fields.iter().map(|(_, value)| value.counts()).sum(),
        };
        if counts < self.counts {
            let message = "COUNT inside another expression is not supported";
            return Err(QueryError::at(selected_at, message));
        }
        let counts = counts > 0;
        if counts {
            // A client adds the counts of several ranges: none of these could be kept by it.
            let misplaced = [
                (top.is_some(), top_at, "TOP"),
                (!order.is_empty(), order_at, "ORDER BY"),
                (window.is_some(), window_at, "OFFSET LIMIT"),
            ];
            if let Some((_, at, name)) = misplaced.into_iter().find(|(present, ..)| *present) {
                return Err(QueryError::at(
                    at,
                    format!("{name} with COUNT is not supported"),
                ));
            }
            if !is_total(&selection) {
                let message = "besides COUNT a selection may hold only literals and parameters; \
                               GROUP BY is not supported";
                return Err(QueryError::at(selected_at, message));
            }
        }
        if top.is_some() && window.is_some() {
            return Err(QueryError::at(
                window_at,
                "TOP and OFFSET LIMIT exclude each other",
            ));
        }
        Ok(Query {
            alias,
            selection,
            counts,
            top,
            filter,
            order,
            window,
            resume: None,
        })
    }

    fn selection(&mut self) -> Result<Selection, QueryError> {
        if self.take_symbol("*") {
            return Ok(Selection::Document);
        }
        if self.take_word("VALUE") {
            return self.expression().map(Selection::Value);
        }
        let mut fields: Vec<(String, Expression)> = Vec::new();
        loop {
            let at = self.offset();
            let value = self.expression()?;
            let name = self.field_name(&value, at)?;
            if fields.iter().any(|(taken, _)| *taken == name) {
                let message = format!("two fields are called `{}`", shortened(&name));
                return Err(QueryError::at(at, message));
            }
            if fields.len() == FIELD_LIMIT {
                let message = format!("more than {FIELD_LIMIT} fields are selected");
                return Err(QueryError::at(at, message));
            }
            fields.push((name, value));
            if !self.take_symbol(",") {
                return Ok(Selection::Fields(fields));
            }
        }
    }

    /// The name of a selected field: after `AS`, or the last one of its path.
    fn field_name(&mut self, value: &Expression, at: usize) -> Result<String, QueryError> {
        if self.take_word("AS") {
            return self.word("a name after AS");
        }
        if let Kind::Word(word) = self.kind()
            && !is_reserved(word)
        {
            return self.word("a name");
        }
        match value {
            Expression::Path(path) if path.0.is_empty() => {
                let root = self.roots.last().map(|(root, _)| root.clone());
                return Ok(root.expect("reading the path has noted its root"));
            }
            Expression::Path(path) => {
                if let Some(name) = path.name() {
                    return Ok(name.clone());
                }
            }
            // The service's name for the only expression that has none.
            Expression::Count(_) if !self.is_symbol(",") => return Ok("$1".into()),
            _ => {}
        }
        Err(QueryError::at(
            at,
            "this selected expression needs a name: add AS and one",
        ))
    }

    /// `FROM` and what the collection is called.
    fn source(&mut self) -> Result<String, QueryError> {
        self.expect_word("FROM")?;
        if self.is_symbol("(") {
            return Err(self.refusal("a subquery in FROM is not supported"));
        }
        let name = self.alias("the collection's name after FROM")?;
        if self.is_symbol(".") || self.is_symbol("[") {
            return Err(self.refusal("FROM a path inside the documents is not supported"));
        }
        let renamed = match self.kind() {
            Kind::Word(word) => word.eq_ignore_ascii_case("AS") || !is_reserved(word),
            _ => false,
        };
        let alias = if renamed {
            self.take_word("AS");
            self.alias("the collection's name after AS")?
        } else {
            name
        };
        if self.is_word("IN") {
            return Err(self.refusal("IN in FROM is not supported"));
        }
        if self.is_word("JOIN") {
            return Err(self.refusal("JOIN is not supported"));
        }
        Ok(alias)
    }

    fn alias(&mut self, wanted: &str) -> Result<String, QueryError> {
        match self.kind() {
            Kind::Word(word) if is_reserved(word) => Err(self.unexpected(wanted)),
            _ => self.word(wanted),
        }
    }

    fn order(&mut self) -> Result<Vec<Sort>, QueryError> {
        let mut order = Vec::new();
        if !self.take_word("ORDER") {
            return Ok(order);
        }
        self.expect_word("BY")?;
        loop {
            let at = self.offset();
            match self.expression()? {
                Expression::Path(path) if !path.0.is_empty() => {
                    let descending = self.take_word("DESC");
                    if !descending {
                        self.take_word("ASC");
                    }
                    order.push(Sort { path, descending });
                }
                _ => {
                    return Err(QueryError::at(
                        at,
                        "ORDER BY anything but a property's path is not supported",
                    ));
                }
            }
            if order.len() > SORT_LIMIT {
                return Err(QueryError::at(
                    at,
                    format!("more than {SORT_LIMIT} paths in ORDER BY"),
                ));
            }
            if !self.take_symbol(",") {
                return Ok(order);
            }
        }
    }

    fn window(&mut self) -> Result<Option<Window>, QueryError> {
        if self.is_word("LIMIT") {
            return Err(self.refusal("LIMIT needs an OFFSET before it"));
        }
        if !self.take_word("OFFSET") {
            return Ok(None);
        }
        let offset = self.amount("OFFSET")?;
        self.expect_word("LIMIT")?;
        let limit = self.amount("LIMIT")?;
        Ok(Some(Window { offset, limit }))
    }

    /// The number after `TOP` and its like, itself or a parameter.
    fn amount(&mut self, clause: &str) -> Result<u32, QueryError> {
        let at = self.offset();
        let given = match self.kind().clone() {
            Kind::Number(number) => number.as_u64(),
            Kind::Parameter(name) => match self.parameter(&name, at)? {
                Value::Number(number) => whole(number),
                _ => None,
            },
            _ => None,
        };
        let amount = given.and_then(|given| u32::try_from(given).ok());
        let Some(amount) = amount.filter(|amount| *amount <= AMOUNT_LIMIT) else {
            let message = format!("{clause} takes a whole number from 0 to {AMOUNT_LIMIT}");
            return Err(QueryError::at(at, message));
        };
        self.at += 1;
        Ok(amount)
    }

    /// The value of a parameter.
    fn parameter(&self, name: &str, at: usize) -> Result<&Value, QueryError> {
        self.parameters.get(name).ok_or_else(|| {
            QueryError::at(
                at,
                format!("the parameter `{}` has no value", shortened(name)),
            )
        })
    }

    fn end(&self) -> Result<(), QueryError> {
        match self.kind() {
            Kind::End => Ok(()),
            Kind::Symbol(",") => Err(self.unexpected("the end of the query")),
            other => match call::unsupported(other) {
                Some(message) => Err(self.refusal(message)),
                None => Err(self.unexpected("a clause or the end of the query")),
            },
        }
    }
}

/// The most fields of a selection.
const FIELD_LIMIT: usize = 1000;

/// The most paths of an `ORDER BY`.
const SORT_LIMIT: usize = 100;

/// The greatest number after `TOP`, `OFFSET` and `LIMIT`.
const AMOUNT_LIMIT: u32 = i32::MAX.unsigned_abs();

/// A number as a whole one; clients write `5.0` too.
fn whole(number: &serde_json::Number) -> Option<u64> {
    if let Some(whole) = number.as_u64() {
        return Some(whole);
    }
    let double = number.as_f64().filter(|double| double.fract() == 0.0)?;
    (0.0..=f64::from(AMOUNT_LIMIT))
        .contains(&double)
        .then(|| format!("{double:.0}").parse().ok())?
}

/// Whether a selection with `COUNT` is one value over all documents.
fn is_total(selection: &Selection) -> bool {
    fn total(value: &Expression) -> bool {
        match value {
            Expression::Count(_) | Expression::Undefined => true,
            Expression::Array(items) => items.iter().all(total),
            Expression::Object(fields) => fields.iter().all(|(_, value)| total(value)),
            other => other.is_constant(),
        }
    }
    match selection {
        Selection::Document => false,
        Selection::Value(value) => total(value),
        Selection::Fields(fields) => fields.iter().all(|(_, value)| total(value)),
    }
}
