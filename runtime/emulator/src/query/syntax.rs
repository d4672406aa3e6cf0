//! A parsed query: the tree that the evaluation walks and from which rewritten queries are printed.
//!
//! What cannot be evaluated as the service does has no form here, so no later step can get it
//! wrong.

use serde_json::Value;

use super::token::{is_initial, is_part};

/// How tightly operands bind: what needs no parentheses anywhere.
pub(super) const OPERAND: u8 = 4;

/// Words that are no alias, nor a property without brackets.
pub(super) const RESERVED: [&str; 33] = [
    "AND",
    "ARRAY",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "DESC",
    "DISTINCT",
    "ESCAPE",
    "EXISTS",
    "FALSE",
    "FOR",
    "FROM",
    "GROUP",
    "HAVING",
    "IN",
    "IS",
    "JOIN",
    "LET",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "OFFSET",
    "OR",
    "ORDER",
    "SELECT",
    "TOP",
    "TRUE",
    "UDF",
    "UNDEFINED",
    "VALUE",
    "WHERE",
];

/// Whether a word is one of the language's own.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED
        .iter()
        .any(|reserved| word.eq_ignore_ascii_case(reserved))
}

#[derive(Clone, Debug)]
pub(super) enum Selection {
    /// `*`
    Document,
    /// `VALUE` and an expression.
    Value(Expression),
    /// Names and expressions.
    Fields(Vec<(String, Expression)>),
}

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Undefined,
    Literal(Value),
    Parameter {
        name: String,
        value: Value,
    },
    Path(Path),
    Array(Vec<Expression>),
    Object(Vec<(String, Expression)>),
    Not(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Comparison(Box<Comparison>),
    In {
        needle: Box<Expression>,
        items: Vec<Expression>,
        negated: bool,
    },
    Is(Kind, Box<Expression>),
    StartsWith(Box<StartsWith>),
    /// Only in a selection, and never inside another one.
    Count(Box<Expression>),
}

/// Where a value lies in a document; without steps it is the document.
#[derive(Clone, Debug)]
pub(super) struct Path(pub(super) Vec<Step>);

#[derive(Clone, Debug)]
pub(super) enum Step {
    Name(String),
    Index(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) left: Expression,
    pub(super) operator: Operator,
    pub(super) right: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Debug)]
pub(super) struct StartsWith {
    pub(super) value: Expression,
    pub(super) prefix: Expression,
    pub(super) ignore_case: bool,
}

/// What an `IS_…` function asks about a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Defined,
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

#[derive(Clone, Debug)]
pub(super) struct Sort {
    pub(super) path: Path,
    pub(super) descending: bool,
}

/// `OFFSET` and `LIMIT`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) offset: u32,
    pub(super) limit: u32,
}

impl Operator {
    pub(super) fn of(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "=" => Self::Equal,
            "!=" | "<>" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::AtMost,
            ">" => Self::Greater,
            ">=" => Self::AtLeast,
            _ => return None,
        })
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl Kind {
    pub(super) fn of(function: &str) -> Option<Self> {
        Some(match function {
            "IS_DEFINED" => Self::Defined,
            "IS_NULL" => Self::Null,
            "IS_BOOL" | "IS_BOOLEAN" => Self::Boolean,
            "IS_NUMBER" => Self::Number,
            "IS_STRING" => Self::String,
            "IS_ARRAY" => Self::Array,
            "IS_OBJECT" => Self::Object,
            _ => return None,
        })
    }

    fn function(self) -> &'static str {
        match self {
            Self::Defined => "IS_DEFINED",
            Self::Null => "IS_NULL",
            Self::Boolean => "IS_BOOL",
            Self::Number => "IS_NUMBER",
            Self::String => "IS_STRING",
            Self::Array => "IS_ARRAY",
            Self::Object => "IS_OBJECT",
        }
    }
}

impl Expression {
    /// Whether it is the same for every document.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Parameter { .. } => true,
            Self::Array(items) => items.iter().all(Self::is_constant),
            Self::Object(fields) => fields.iter().all(|(_, value)| value.is_constant()),
            _ => false,
        }
    }

    /// How many `COUNT`s are its value, or in the arrays and objects that are.
    pub(super) fn counts(&self) -> usize {
        match self {
            Self::Count(_) => 1,
            Self::Array(items) => items.iter().map(Self::counts).sum(),
            Self::Object(fields) => fields.iter().map(|(_, value)| value.counts()).sum(),
            _ => 0,
        }
    }

    /// How tightly its outermost operator binds.
    fn binding(&self) -> u8 {
        match self {
            Self::Or(_) => 0,
            Self::And(_) => 1,
            Self::Not(_) => 2,
            Self::Comparison(_) | Self::In { .. } => 3,
            _ => OPERAND,
        }
    }

    /// The text of the expression for a collection that is called `alias`, in parentheses if it
    /// binds less tightly than its surroundings.
    pub(super) fn print(&self, alias: &str, around: u8) -> String {
        let text = match self {
            Self::Undefined => "undefined".into(),
            Self::Literal(value) => value.to_string(),
            Self::Parameter { name, .. } => name.clone(),
            Self::Path(path) => path.print(alias),
            Self::Array(items) => format!("[{}]", joined(items, alias, 0, ", ")),
            Self::Object(fields) => object(fields, alias),
            Self::Not(inner) => {
                let twice = matches!(**inner, Self::Not(_));
                format!(
                    "NOT {}",
                    inner.print(alias, if twice { 2 } else { OPERAND })
                )
            }
            Self::And(parts) => joined(parts, alias, 2, " AND "),
            Self::Or(parts) => joined(parts, alias, 1, " OR "),
            Self::Comparison(comparison) => {
                let Comparison {
                    left,
                    operator,
                    right,
                } = &**comparison;
                let (left, right) = (left.print(alias, OPERAND), right.print(alias, OPERAND));
                format!("{left} {} {right}", operator.symbol())
            }
            Self::In {
                needle,
                items,
                negated,
            } => {
                let not = if *negated { "NOT " } else { "" };
                let needle = needle.print(alias, OPERAND);
                format!("{needle} {not}IN ({})", joined(items, alias, 0, ", "))
            }
            Self::Is(kind, value) => format!("{}({})", kind.function(), value.print(alias, 0)),
            Self::StartsWith(call) => {
                let StartsWith {
                    value,
                    prefix,
                    ignore_case,
                } = &**call;
                let (value, prefix) = (value.print(alias, 0), prefix.print(alias, 0));
                format!("STARTSWITH({value}, {prefix}, {ignore_case})")
            }
            Self::Count(value) => format!("COUNT({})", value.print(alias, 0)),
        };
        if self.binding() < around {
            format!("({text})")
        } else {
            text
        }
    }
}

impl Path {
    /// What a selected field is called that has no other name.
    pub(super) fn name(&self) -> Option<&String> {
        match self.0.last() {
            Some(Step::Name(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn print(&self, alias: &str) -> String {
        let steps = self.0.iter().map(|step| match step {
            Step::Name(name) if is_bare(name) => format!(".{name}"),
            Step::Name(name) => format!("[{}]", Value::String(name.clone())),
            Step::Index(index) => format!("[{index}]"),
        });
        alias.to_owned() + &steps.collect::<String>()
    }
}

/// Whether a property's name can stand after a point.
fn is_bare(name: &str) -> bool {
    name.starts_with(is_initial) && name.chars().all(is_part) && !is_reserved(name)
}

/// An object literal of these fields.
pub(super) fn object(fields: &[(String, Expression)], alias: &str) -> String {
    let field = |(name, value): &(String, Expression)| {
        format!("{}: {}", Value::String(name.clone()), value.print(alias, 0))
    };
    format!(
        "{{{}}}",
        fields.iter().map(field).collect::<Vec<_>>().join(", ")
    )
}

fn joined(parts: &[Expression], alias: &str, around: u8, separator: &str) -> String {
    let parts = parts.iter().map(|part| part.print(alias, around));
    parts.collect::<Vec<_>>().join(separator)
}
