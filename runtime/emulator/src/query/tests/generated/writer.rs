//! Generated queries as texts.

use fastrand::Rng;
use serde_json::{Value, json};

use super::super::Parameter;
use super::{Condition, Generated, Selection, Side, Step};

/// Writes queries as people and clients do, which is in many ways.
pub(super) struct Writer<'r> {
    rng: &'r mut Rng,
    alias: &'static str,
    pub(super) parameters: Vec<Parameter>,
}

impl<'r> Writer<'r> {
    pub(super) fn new(rng: &'r mut Rng, alias: &'static str) -> Self {
        Self {
            rng,
            alias,
            parameters: Vec::new(),
        }
    }

    fn word(&mut self, word: &str) -> String {
        let word = if self.rng.bool() {
            word.to_owned()
        } else {
            word.to_lowercase()
        };
        let space = [" ", "  ", "\n", " -- so\n", " /* ' */ "][self.rng.usize(..5)];
        format!("{space}{word}{space}")
    }

    fn string(&mut self, text: &str) -> String {
        if self.rng.bool() {
            return Value::from(text).to_string();
        }
        let escaped = text
            .replace('\\', "\\\\")
            .replace('\'', "\\'")
            .replace('é', "\\u00e9");
        format!("'{}'", escaped.replace('\u{10000}', "\\uD800\\uDC00"))
    }

    fn value(&mut self, value: &Value) -> String {
        if self.rng.u8(..4) == 0 {
            let name = format!("@p{}", self.parameters.len());
            self.parameters.push(Parameter {
                name: name.clone(),
                value: value.clone(),
            });
            return name;
        }
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.value(item)).collect();
                format!("[{}]", items.join(","))
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields: Vec<_> = fields
                    .map(|(n, v)| format!("{}: {}", self.string(n), self.value(v)))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }
            scalar => scalar.to_string(),
        }
    }

    fn path(&mut self, steps: &[Step]) -> String {
        let mut parts = vec![self.alias.to_owned()];
        for step in steps {
            parts.push(match step {
                Step::Index(index) => format!("[{index}]"),
                Step::Name(name) if name.is_ascii() && !name.contains(' ') && self.rng.bool() => {
                    format!(".{name}")
                }
                Step::Name(name) => format!("[{}]", self.string(name)),
            });
        }
        parts.concat()
    }

    fn side(&mut self, side: &Side) -> String {
        match side {
            Side::At(steps) => self.path(steps),
            Side::Fixed(value) => self.value(value),
            Side::Undefined => self.word("UNDEFINED"),
            Side::Condition(condition) => format!("({})", self.condition(condition, 0)),
        }
    }

    /// A condition, in parentheses where its surroundings bind more tightly.
    fn condition(&mut self, condition: &Condition, around: u8) -> String {
        let (text, binding) = match condition {
            Condition::Compare(left, operator, right) => (
                format!("{}{operator}{}", self.side(left), self.side(right)),
                3,
            ),
            Condition::In(side, items, negated) => {
                let not = if *negated {
                    self.word("NOT")
                } else {
                    String::new()
                };
                let needle = self.side(side);
                let items: Vec<_> = items.iter().map(|item| self.side(item)).collect();
                (
                    format!("{needle}{not}{}({})", self.word("IN"), items.join(", ")),
                    3,
                )
            }
            Condition::Is(function, side) => {
                (format!("{}({})", self.word(function), self.side(side)), 4)
            }
            Condition::Starts(side, prefix, ignore_case) => {
                let third = ignore_case.map(|yes| format!(", {}", self.value(&json!(yes))));
                let arguments = format!("{}, {}", self.side(side), self.side(prefix));
                let function = self.word("STARTSWITH");
                (
                    format!("{function}({arguments}{})", third.unwrap_or_default()),
                    4,
                )
            }
            Condition::Holds(side) => (self.side(side), 4),
            Condition::Both(left, right) => {
                let (left, right) = (self.condition(left, 1), self.condition(right, 1));
                (format!("{left}{}{right}", self.word("AND")), 1)
            }
            Condition::Either(left, right) => {
                let (left, right) = (self.condition(left, 0), self.condition(right, 0));
                (format!("{left}{}{right}", self.word("OR")), 0)
            }
            Condition::Not(inner) => (
                format!("{}{}", self.word("NOT"), self.condition(inner, 4)),
                2,
            ),
        };
        if binding < around || self.rng.u8(..6) == 0 {
            format!("({text})")
        } else {
            text
        }
    }

    pub(super) fn query(&mut self, query: &Generated) -> String {
        let mut parts = vec![self.word("SELECT")];
        if let Some(top) = query.top {
            parts.extend([self.word("TOP"), self.value(&json!(top)), " ".to_owned()]);
        }
        parts.push(self.selection(&query.selection));
        parts.push(self.word("FROM"));
        parts.push(match (self.alias, self.rng.bool()) {
            ("c" | "root", true) => self.alias.to_owned(),
            (alias, true) => format!("c AS {alias}"),
            (alias, false) => format!("c {alias}"),
        });
        if let Some(condition) = &query.condition {
            parts.extend([self.word("WHERE"), self.condition(condition, 0)]);
        }
        for (n, (path, descending)) in query.order.iter().enumerate() {
            parts.push(if n == 0 {
                self.word("ORDER") + "BY "
            } else {
                ",".to_owned()
            });
            parts.push(self.path(path));
            if *descending || self.rng.bool() {
                parts.push(self.word(if *descending { "DESC" } else { "ASC" }));
            }
        }
        if let Some((offset, limit)) = query.window {
            parts.extend([self.word("OFFSET"), self.value(&json!(offset))]);
            parts.extend([self.word("LIMIT"), self.value(&json!(limit))]);
        }
        parts.concat()
    }

    fn selection(&mut self, selection: &Selection) -> String {
        match selection {
            Selection::Document => " *".to_owned(),
            Selection::Value(path) => self.word("VALUE") + &self.path(path),
            Selection::Fields(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, path)| self.path(path) + &self.word("AS") + name);
                fields.collect::<Vec<_>>().join(",")
            }
            Selection::Count(None) => self.word("VALUE") + "COUNT(1)",
            Selection::Count(Some(path)) => {
                format!("{}COUNT({})", self.word("VALUE"), self.path(path))
            }
            Selection::Counts => "COUNT(1) AS n".to_owned(),
        }
    }
}
