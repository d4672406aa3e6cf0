//! Expressions: conditions, and the values in them.

use serde_json::{Number, Value};

use super::super::QueryError;
use super::super::syntax::{Comparison, Expression, Operator, Path, Step, is_reserved};
use super::super::token::{Kind, shortened};
use super::Parser;
use super::call::unsupported;

/// How deeply parentheses, brackets, braces and calls may be nested: what the evaluation's
/// recursion, and the parser's, can bear on any stack.
const DEPTH_LIMIT: usize = 64;

/// The most values after `IN`.
const IN_LIMIT: usize = 16_384;

impl Parser<'_> {
    /// A condition or a value.
    pub(super) fn expression(&mut self) -> Result<Expression, QueryError> {
        if self.depth == DEPTH_LIMIT {
            return Err(self.refusal(format!("nested deeper than {DEPTH_LIMIT} levels")));
        }
        self.depth += 1;
        let mut parts = vec![self.conjunction()?];
        while self.take_word("OR") {
            parts.push(self.conjunction()?);
        }
        self.depth -= 1;
        Ok(whole(parts, Expression::Or))
    }

    fn conjunction(&mut self) -> Result<Expression, QueryError> {
        let mut parts = vec![self.negation()?];
        while self.take_word("AND") {
            parts.push(self.negation()?);
        }
        Ok(whole(parts, Expression::And))
    }

    fn negation(&mut self) -> Result<Expression, QueryError> {
        let mut negations = 0_usize;
        while self.take_word("NOT") {
            negations += 1;
        }
        if negations == 0 {
            return self.comparison();
        }
        let operand = self.operand()?;
        if self.is_comparison() {
            return Err(self.refusal(
                "NOT before a comparison can be read in two ways: put what NOT negates in parentheses",
            ));
        }
        let operand = self.finished(operand)?;
        // NOT NOT NOT is NOT; NOT NOT is not nothing, for it makes a value that is no boolean
        // undefined.
        let once = Expression::Not(Box::new(operand));
        Ok(if negations % 2 == 1 {
            once
        } else {
            Expression::Not(Box::new(once))
        })
    }

    fn is_comparison(&self) -> bool {
        match self.kind() {
            Kind::Symbol(symbol) => Operator::of(symbol).is_some(),
            _ => self.is_word("IN") || self.is_word("NOT"),
        }
    }

    fn comparison(&mut self) -> Result<Expression, QueryError> {
        let at = self.offset();
        let left = self.operand()?;
        if !self.is_comparison() {
            return self.finished(left);
        }
        comparable(&left, at)?;
        let operator = match self.kind() {
            Kind::Symbol(symbol) => Operator::of(symbol),
            _ => None,
        };
        let compared = if let Some(operator) = operator {
            self.at += 1;
            let at = self.offset();
            let right = self.operand()?;
            comparable(&right, at)?;
            Expression::Comparison(Box::new(Comparison {
                left,
                operator,
                right,
            }))
        } else {
            let negated = self.take_word("NOT");
            if negated && !self.is_word("IN") {
                return Err(match unsupported(self.kind()) {
                    Some(message) => self.refusal(message),
                    None => self.unexpected("IN after NOT"),
                });
            }
            self.list(left, negated)?
        };
        if self.is_comparison() {
            return Err(self
                .refusal("comparing the result of a comparison is supported in parentheses only"));
        }
        self.finished(compared)
    }

    /// Refuses the operators that are not supported, rather than ending the expression there.
    fn finished(&self, expression: Expression) -> Result<Expression, QueryError> {
        // Multiplication and the like have no other meaning behind an operand.
        match unsupported(self.kind()) {
            Some(message) => Err(self.refusal(message)),
            None => Ok(expression),
        }
    }

    /// `IN` and what follows it.
    fn list(&mut self, needle: Expression, negated: bool) -> Result<Expression, QueryError> {
        self.expect_word("IN")?;
        self.expect_symbol("(")?;
        if self.is_symbol(")") {
            return Err(self.refusal("IN needs at least one value"));
        }
        let mut items = Vec::new();
        loop {
            let at = self.offset();
            let item = self.expression()?;
            comparable(&item, at)?;
            if items.len() == IN_LIMIT {
                return Err(QueryError::at(
                    at,
                    format!("more than {IN_LIMIT} values after IN"),
                ));
            }
            items.push(item);
            if !self.take_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(Expression::In {
            needle: Box::new(needle),
            items,
            negated,
        })
    }

    fn operand(&mut self) -> Result<Expression, QueryError> {
        let at = self.offset();
        let operand = match self.kind().clone() {
            Kind::Text(text) => self.literal(Value::String(text)),
            Kind::Number(number) => self.literal(Value::Number(number)),
            Kind::Parameter(name) => {
                let value = self.parameter(&name, at)?.clone();
                self.at += 1;
                Expression::Parameter { name, value }
            }
            Kind::Symbol("-") => {
                self.at += 1;
                let Kind::Number(number) = self.kind().clone() else {
                    return Err(QueryError::at(at, "arithmetic is not supported"));
                };
                self.literal(Value::Number(negative(&number)))
            }
            Kind::Symbol("(") => {
                self.at += 1;
                if self.is_word("SELECT") {
                    return Err(self.refusal("subqueries are not supported"));
                }
                let inner = self.expression()?;
                self.expect_symbol(")")?;
                inner
            }
            Kind::Symbol("[") => self.array()?,
            Kind::Symbol("{") => self.object()?,
            Kind::Word(word) => return self.named(&word),
            other => {
                return Err(match unsupported(&other) {
                    Some(message) => self.refusal(message),
                    None => self.unexpected("a value"),
                });
            }
        };
        self.unindexed(operand)
    }

    /// Refuses a property of what is no path.
    pub(super) fn unindexed(&self, operand: Expression) -> Result<Expression, QueryError> {
        if self.is_symbol(".") || self.is_symbol("[") {
            return Err(self.refusal("properties are supported in paths only, as in c.a[\"b\"][0]"));
        }
        Ok(operand)
    }

    fn literal(&mut self, value: Value) -> Expression {
        self.at += 1;
        Expression::Literal(value)
    }

    fn array(&mut self) -> Result<Expression, QueryError> {
        self.expect_symbol("[")?;
        let mut items = Vec::new();
        if self.take_symbol("]") {
            return Ok(Expression::Array(items));
        }
        loop {
            items.push(self.expression()?);
            if !self.take_symbol(",") {
                break;
            }
        }
        self.expect_symbol("]")?;
        Ok(Expression::Array(items))
    }

    fn object(&mut self) -> Result<Expression, QueryError> {
        self.expect_symbol("{")?;
        let mut fields: Vec<(String, Expression)> = Vec::new();
        if self.take_symbol("}") {
            return Ok(Expression::Object(fields));
        }
        loop {
            let at = self.offset();
            let name = match self.kind().clone() {
                Kind::Text(name) => {
                    self.at += 1;
                    name
                }
                _ => self.word("a field's name")?,
            };
            if fields.iter().any(|(taken, _)| *taken == name) {
                let message = format!("two fields are called `{}`", shortened(&name));
                return Err(QueryError::at(at, message));
            }
            if fields.len() == super::FIELD_LIMIT {
                let message = format!("an object of more than {} fields", super::FIELD_LIMIT);
                return Err(QueryError::at(at, message));
            }
            self.expect_symbol(":")?;
            fields.push((name, self.expression()?));
            if !self.take_symbol(",") {
                break;
            }
        }
        self.expect_symbol("}")?;
        Ok(Expression::Object(fields))
    }

    /// A constant, a call or a path: what begins with a word.
    fn named(&mut self, word: &str) -> Result<Expression, QueryError> {
        if *self.following() == Kind::Symbol("(") {
            return self.call(word);
        }
        let constant = match word.to_ascii_uppercase().as_str() {
            "TRUE" => Expression::Literal(true.into()),
            "FALSE" => Expression::Literal(false.into()),
            "NULL" => Expression::Literal(Value::Null),
            "UNDEFINED" => Expression::Undefined,
            _ => return self.path(word),
        };
        self.at += 1;
        self.unindexed(constant)
    }

    fn path(&mut self, root: &str) -> Result<Expression, QueryError> {
        if is_reserved(root) {
            return Err(match unsupported(self.kind()) {
                Some(message) => self.refusal(message),
                None => self.unexpected("a value"),
            });
        }
        if root.eq_ignore_ascii_case("udf") {
            return Err(self.refusal("user-defined functions are not supported"));
        }
        self.roots.push((root.into(), self.offset()));
        self.at += 1;
        let mut steps = Vec::new();
        loop {
            if self.take_symbol(".") {
                let name = self.word("a property's name after `.`")?;
                if self.is_symbol("(") {
                    return Err(self.refusal("calling a function of a path is not supported"));
                }
                steps.push(Step::Name(name));
            } else if self.take_symbol("[") {
                steps.push(self.index()?);
                self.expect_symbol("]")?;
            } else {
                return Ok(Expression::Path(Path(steps)));
            }
        }
    }

    /// What stands in the brackets of a path.
    fn index(&mut self) -> Result<Step, QueryError> {
        let at = self.offset();
        let value = match self.kind().clone() {
            Kind::Text(name) => Value::String(name),
            Kind::Number(number) => Value::Number(number),
            Kind::Parameter(name) => self.parameter(&name, at)?.clone(),
            _ => return Err(self.unexpected("a property's name in quotes or an index")),
        };
        self.at += 1;
        let step = match value {
            Value::String(name) => Some(Step::Name(name)),
            Value::Number(number) => {
                let index = super::whole(&number).and_then(|index| usize::try_from(index).ok());
                index.map(Step::Index)
            }
            _ => None,
        };
        step.ok_or_else(|| QueryError::at(at, "an index is a property's name or a whole number"))
    }
}

/// A single part as it is, several as a whole.
fn whole(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() > 1 {
        return many(parts);
    }
    parts.pop().unwrap_or(Expression::Undefined)
}

/// Refuses arrays and objects made of a document's parts: what becomes of an undefined part in a
/// comparison differs between engines.
fn comparable(operand: &Expression, at: usize) -> Result<(), QueryError> {
    let made = matches!(operand, Expression::Array(_) | Expression::Object(_));
    if made && !operand.is_constant() {
        return Err(QueryError::at(
            at,
            "comparing an array or an object that is made from properties is not supported",
        ));
    }
    Ok(())
}

fn negative(number: &Number) -> Number {
    let whole = number.as_u64().filter(|whole| *whole != 0);
    let whole = whole.and_then(|whole| i64::try_from(whole).ok());
    let double = || number.as_f64().and_then(|double| Number::from_f64(-double));
    whole
        .map(|whole| (-whole).into())
        .or_else(double)
        .unwrap_or_else(|| number.clone())
}
