//! What differs between databases.

use projectionist::filter::Literal;
use projectionist::row::cell::SqlKind;

/// A database's SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// That of a store, by the database's name.
    pub(crate) fn of(database: &str) -> Option<Self> {
        match database {
            "sqlite" => Some(Self::Sqlite),
            "postgres" => Some(Self::Postgres),
            _ => None,
        }
    }

    /// The type of a column.
    pub(super) const fn column(self, kind: SqlKind) -> &'static str {
        match (self, kind) {
            (Self::Sqlite, SqlKind::Bool | SqlKind::Integer) => "integer",
            (Self::Sqlite, SqlKind::Real) => "real",
            (Self::Postgres, SqlKind::Bool) => "boolean",
            (Self::Postgres, SqlKind::Integer) => "bigint",
            (Self::Postgres, SqlKind::Real) => "double precision",
            (Self::Postgres, SqlKind::Uuid) => "uuid",
            (Self::Postgres, SqlKind::Timestamp) => "timestamp with time zone",
            (Self::Postgres, SqlKind::Date) => "date",
            (Self::Postgres, SqlKind::Decimal) => "numeric",
            (Self::Postgres, SqlKind::Json) => "jsonb",
            _ => "text",
        }
    }

    /// What makes a parameter, which is a text for most kinds, the column's type.
    pub(super) const fn cast(self, kind: SqlKind) -> &'static str {
        match (self, kind) {
            (Self::Sqlite, _) => "",
            (Self::Postgres, SqlKind::Bool) => "::boolean",
            (Self::Postgres, SqlKind::Integer) => "::bigint",
            (Self::Postgres, SqlKind::Real) => "::double precision",
            (Self::Postgres, SqlKind::Uuid) => "::uuid",
            (Self::Postgres, SqlKind::Timestamp) => "::timestamptz",
            (Self::Postgres, SqlKind::Date) => "::date",
            (Self::Postgres, SqlKind::Decimal) => "::numeric",
            (Self::Postgres, SqlKind::Json) => "::jsonb",
            (Self::Postgres, _) => "::text",
        }
    }

    /// The type in which a cell is sent: texts for most kinds, made into the column's type by [`cast`](Self::cast).
    pub(super) const fn element(self, kind: SqlKind) -> &'static str {
        match kind {
            SqlKind::Bool | SqlKind::Integer | SqlKind::Real => self.column(kind),
            _ => "text",
        }
    }

    /// A literal of `on_delete(set(…))`.
    pub(super) fn literal(self, literal: Literal) -> String {
        match (self, literal) {
            (_, Literal::Text(text)) => format!("'{}'", text.replace('\'', "''")),
            (_, Literal::Integer(number)) => number.to_string(),
            (Self::Sqlite, Literal::Bool(flag)) => u8::from(flag).to_string(),
            (Self::Postgres, Literal::Bool(flag)) => flag.to_string(),
            (_, Literal::Null) => "null".to_owned(),
            (_, other) => unreachable!("{other:?}: the framework and the runtime have one version"),
        }
    }
}

/// A name in quotes: whatever it holds, it is a name.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
