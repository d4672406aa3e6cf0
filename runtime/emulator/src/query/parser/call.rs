//! Functions, and the words and symbols of the service's language that are not supported.

use serde_json::Value;

use super::super::QueryError;
use super::super::syntax::{Expression, Kind as Type, StartsWith};
use super::super::token::{Kind, shortened};
use super::{Parser, Place};

impl Parser<'_> {
    /// A function's name and its arguments.
    pub(super) fn call(&mut self, word: &str) -> Result<Expression, QueryError> {
        let at = self.offset();
        let function = word.to_ascii_uppercase();
        let kind = Type::of(&function);
        if kind.is_none() && !matches!(function.as_str(), "STARTSWITH" | "COUNT") {
            return Err(match unsupported(self.kind()) {
                Some(message) => self.refusal(message),
                None => self.refusal(format!(
                    "the function {} is not supported; supported are COUNT, STARTSWITH, IS_DEFINED, \
                     IS_NULL, IS_BOOL, IS_NUMBER, IS_STRING, IS_ARRAY and IS_OBJECT",
                    shortened(&function)
                )),
            });
        }
        let place = self.place;
        if function == "COUNT" {
            if place != Place::Selection {
                return Err(
                    self.refusal("COUNT is supported in the selection only, and not in COUNT")
                );
            }
            self.place = Place::Count;
            self.counts += 1;
        } else if place == Place::Selection {
            // A condition about a count has no meaning that clients could add up.
            self.place = Place::Elsewhere;
        }
        self.at += 2;
        let mut arguments = Vec::new();
        if !self.is_symbol(")") {
            arguments.push(self.expression()?);
            while self.take_symbol(",") {
                arguments.push(self.expression()?);
            }
        }
        self.expect_symbol(")")?;
        self.place = place;
        let called = called(&function, kind, arguments).map_err(|e| QueryError::at(at, e))?;
        self.unindexed(called)
    }
}

/// The call of a function with its arguments.
fn called(
    function: &str,
    kind: Option<Type>,
    arguments: Vec<Expression>,
) -> Result<Expression, String> {
    let mut arguments = arguments.into_iter();
    let given = (
        arguments.next(),
        arguments.next(),
        arguments.next(),
        arguments.next(),
    );
    match (kind, given) {
        (Some(kind), (Some(value), None, ..)) => Ok(Expression::Is(kind, Box::new(value))),
        (None, (Some(value), None, ..)) if function == "COUNT" => {
            Ok(Expression::Count(Box::new(value)))
        }
        (None, (Some(value), Some(prefix), ignore_case, None)) if function == "STARTSWITH" => {
            let ignore_case = match ignore_case {
                None => false,
                Some(
                    Expression::Literal(Value::Bool(ignore_case))
                    | Expression::Parameter {
                        value: Value::Bool(ignore_case),
                        ..
                    },
                ) => ignore_case,
                Some(_) => return Err("STARTSWITH takes true or false as its third value".into()),
            };
            let call = StartsWith {
                value,
                prefix,
                ignore_case,
            };
            Ok(Expression::StartsWith(Box::new(call)))
        }
        (None, _) if function == "STARTSWITH" => {
            Err("STARTSWITH takes two values, and true to ignore case".into())
        }
        _ => Err(format!("{function} takes one value")),
    }
}

/// What to say about a word or symbol of the service's language that is not supported here.
pub(super) fn unsupported(kind: &Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Symbol("+" | "-" | "*" | "/" | "%") => "arithmetic is not supported",
        Kind::Symbol("&" | "|" | "<<" | ">>" | ">>>") => "bitwise operators are not supported",
        Kind::Symbol("||") => "joining strings with `||` is not supported",
        Kind::Symbol("?") => "the conditional operator `?` is not supported",
        Kind::Symbol("??") => "the operator `??` is not supported",
        Kind::Word(word) => match word.to_ascii_uppercase().as_str() {
            "BETWEEN" => "BETWEEN is not supported, write two comparisons",
            "LIKE" => "LIKE is not supported",
            "EXISTS" => "EXISTS is not supported",
            "ARRAY" => "ARRAY of a subquery is not supported",
            "SELECT" => "subqueries are not supported",
            "UDF" => "user-defined functions are not supported",
            "GROUP" => "GROUP BY is not supported",
            "HAVING" => "HAVING is not supported",
            "JOIN" => "JOIN is not supported",
            "DISTINCT" => "DISTINCT is not supported",
            "IS" => "IS NULL is not supported, write IS_NULL(…)",
            _ => return None,
        },
        _ => return None,
    })
}
