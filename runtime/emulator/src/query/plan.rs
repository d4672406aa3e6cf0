//! The answer to a client that asks how to run a query over several ranges: what each range is
//! asked, and what the client does with the answers.

use serde_json::{Map, Value, json};

use super::Query;
use super::syntax::{Expression, OPERAND, Selection, object};
use super::token::PLACEHOLDER;

impl Query {
    /// The body of the answer to a query-plan request.
    ///
    /// A selection of arrays or objects around `COUNT` is what ranges are asked already; it is
    /// planned as it stands.
    pub fn plan(&self) -> Value {
        let mut aggregates = Vec::new();
        let mut names = Vec::new();
        let mut types = Map::new();
        match &self.selection {
            Selection::Value(value) if is_count(value) => aggregates.push("Count"),
            Selection::Fields(fields) if fields.iter().any(|(_, value)| is_count(value)) => {
                for (name, value) in fields {
                    names.push(name);
                    types.insert(name.clone(), json!(is_count(value).then_some("Count")));
                }
            }
            _ => {}
        }
        let order = self.order.iter();
        let directions: Vec<_> = order
            .map(|sort| {
                if sort.descending {
                    "Descending"
                } else {
                    "Ascending"
                }
            })
            .collect();
        let paths: Vec<_> = self
            .order
            .iter()
            .map(|sort| sort.path.print(&self.alias))
            .collect();
        json!({
            "partitionedQueryExecutionInfoVersion": 2,
            "queryInfo": {
                "distinctType": "None",
                "top": self.top,
                "offset": self.window.map(|window| window.offset),
                "limit": self.window.map(|window| window.limit),
                "orderBy": directions,
                "orderByExpressions": paths,
                "groupByExpressions": [],
                "groupByAliases": names,
                "aggregates": aggregates,
                "groupByAliasToAggregateType": types,
                "rewrittenQuery": self.rewritten().unwrap_or_default(),
                "hasSelectValue": matches!(self.selection, Selection::Value(_)),
                "dCountInfo": null,
                "hasNonStreamingOrderBy": false,
            },
            "queryRanges": [
                { "min": "", "max": "FF", "isMinInclusive": true, "isMaxInclusive": false },
            ],
        })
    }

    /// What a range is asked instead of the query, where that differs.
    fn rewritten(&self) -> Option<String> {
        let alias = &self.alias;
        if !self.order.is_empty() {
            return Some(self.rewritten_order());
        }
        let selection = match &self.selection {
            Selection::Value(count @ Expression::Count(_)) => {
                format!("VALUE [{{\"item\": {}}}]", count.print(alias, 0))
            }
            Selection::Fields(fields) if fields.iter().any(|(_, value)| is_count(value)) => {
                let partial = |(name, value): &(String, Expression)| {
                    let item = vec![("item".to_owned(), value.clone())];
                    let value = if is_count(value) {
                        Expression::Object(item)
                    } else {
                        value.clone()
                    };
                    (name.clone(), value)
                };
                let fields: Vec<_> = fields.iter().map(partial).collect();
                format!("{} AS payload", object(&fields, alias))
            }
            selection => {
                self.window?;
                selection.print(alias)
            }
        };
        let filter = self.filter.as_ref().map(|filter| filter.print(alias, 0));
        let filter = filter
            .map(|filter| format!(" WHERE {filter}"))
            .unwrap_or_default();
        Some(format!(
            "SELECT {selection} FROM {alias}{filter}{}",
            self.pushed()
        ))
    }

    /// Each document with what the client merges by.
    fn rewritten_order(&self) -> String {
        let alias = &self.alias;
        let top = self
            .top
            .map(|top| format!("TOP {top} "))
            .unwrap_or_default();
        let keys = self
            .order
            .iter()
            .map(|sort| format!("{{\"item\": {}}}", sort.path.print(alias)));
        let keys = keys.collect::<Vec<_>>().join(", ");
        let mut conditions = Vec::new();
        conditions.extend(self.filter.as_ref().map(|filter| filter.print(alias, 2)));
        conditions.push(format!("({PLACEHOLDER})"));
        let payload = match &self.selection {
            Selection::Document => alias.clone(),
            Selection::Value(value) => {
                let payload = value.print(alias, OPERAND);
                // Rows without a value are no rows; the client cannot tell them from others.
                conditions.push(format!("IS_DEFINED({payload})"));
                payload
            }
            Selection::Fields(fields) => object(fields, alias),
        };
        let order = self.order.iter().map(|sort| {
            format!(
                "{} {}",
                sort.path.print(alias),
                if sort.descending { "DESC" } else { "ASC" }
            )
        });
        let order = order.collect::<Vec<_>>().join(", ");
        format!(
            "SELECT {top}{alias}._rid, [{keys}] AS orderByItems, {payload} AS payload FROM {alias} \
             WHERE {} ORDER BY {order}{}",
            conditions.join(" AND "),
            self.pushed()
        )
    }

    /// The part of a window that a range can cut off: the first rows of all may lie in any range.
    fn pushed(&self) -> String {
        let Some(window) = self.window else {
            return String::new();
        };
        let limit = window
            .offset
            .saturating_add(window.limit)
            .min(i32::MAX.unsigned_abs());
        format!(" OFFSET 0 LIMIT {limit}")
    }
}

impl Selection {
    fn print(&self, alias: &str) -> String {
        match self {
            Self::Document => "*".into(),
            Self::Value(value) => format!("VALUE {}", value.print(alias, 0)),
            Self::Fields(fields) => {
                let field = |(name, value): &(String, Expression)| match value {
                    // Only a path's own name can be one that cannot stand after `AS`.
                    Expression::Path(path) if path.name() == Some(name) => path.print(alias),
                    value => format!("{} AS {name}", value.print(alias, 0)),
                };
                fields.iter().map(field).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn is_count(value: &Expression) -> bool {
    matches!(value, Expression::Count(_))
}
