//! What is outside the grammar, and what the gateway answers to it.

use super::error;

/// Texts and what is said about them.
const REFUSALS: &[(&str, &str)] = &[
    (
        "",
        "SELECT expected, the end of the query found (at offset 0 of the query)",
    ),
    (
        "SELECT DISTINCT c.a FROM c",
        "DISTINCT is not supported (at offset 7 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a + 1 = 2",
        "arithmetic is not supported (at offset 26 of the query)",
    ),
    (
        "SELECT * FROM c WHERE -c.a = 2",
        "arithmetic is not supported (at offset 22 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a BETWEEN 1 AND 2",
        "BETWEEN is not supported, write two comparisons (at offset 26 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a NOT LIKE 'x'",
        "LIKE is not supported (at offset 30 of the query)",
    ),
    (
        "SELECT * FROM c JOIN t IN c.tags",
        "JOIN is not supported (at offset 16 of the query)",
    ),
    (
        "SELECT * FROM c GROUP BY c.a",
        "GROUP BY is not supported (at offset 16 of the query)",
    ),
    (
        "SELECT * FROM c.a",
        "FROM a path inside the documents is not supported (at offset 15 of the query)",
    ),
    (
        "SELECT * FROM t IN c.a",
        "IN in FROM is not supported (at offset 16 of the query)",
    ),
    (
        "SELECT VALUE SUM(c.a) FROM c",
        "the function SUM is not supported; supported are COUNT, STARTSWITH, IS_DEFINED, IS_NULL, IS_BOOL, IS_NUMBER, IS_STRING, IS_ARRAY and IS_OBJECT (at offset 13 of the query)",
    ),
    (
        "SELECT * FROM c WHERE udf.f(c.a)",
        "user-defined functions are not supported (at offset 22 of the query)",
    ),
    (
        "SELECT * FROM c WHERE NOT c.a = 1",
        "NOT before a comparison can be read in two ways: put what NOT negates in parentheses (at offset 30 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a = 1 = true",
        "comparing the result of a comparison is supported in parentheses only (at offset 30 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a = [c.b]",
        "comparing an array or an object that is made from properties is not supported (at offset 28 of the query)",
    ),
    (
        "SELECT * FROM c WHERE d.a",
        "`d` is not the collection's name in this query, which is `c` (at offset 22 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a = @p",
        "the parameter `@p` has no value (at offset 28 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a = 'x",
        "a string has no end (at offset 28 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a = 'x''y'",
        "a doubled quote is not supported, write `\\'` inside a string (at offset 31 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a IN ()",
        "IN needs at least one value (at offset 30 of the query)",
    ),
    (
        "SELECT * FROM c WHERE (SELECT 1)",
        "subqueries are not supported (at offset 23 of the query)",
    ),
    (
        "SELECT * FROM c ORDER BY c",
        "ORDER BY anything but a property's path is not supported (at offset 25 of the query)",
    ),
    (
        "SELECT * FROM c LIMIT 5",
        "LIMIT needs an OFFSET before it (at offset 16 of the query)",
    ),
    (
        "SELECT TOP -1 * FROM c",
        "TOP takes a whole number from 0 to 2147483647 (at offset 11 of the query)",
    ),
    (
        "SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1",
        "TOP and OFFSET LIMIT exclude each other (at offset 22 of the query)",
    ),
    (
        "SELECT VALUE COUNT(1) > 5 FROM c",
        "COUNT inside another expression is not supported (at offset 7 of the query)",
    ),
    (
        "SELECT * FROM c WHERE COUNT(1) > 5",
        "COUNT is supported in the selection only, and not in COUNT (at offset 22 of the query)",
    ),
    (
        "SELECT c.a, COUNT(1) AS n FROM c",
        "besides COUNT a selection may hold only literals and parameters; GROUP BY is not supported (at offset 7 of the query)",
    ),
    (
        "SELECT VALUE COUNT(1) FROM c ORDER BY c.a",
        "ORDER BY with COUNT is not supported (at offset 29 of the query)",
    ),
    (
        "SELECT c.a.b, c.b FROM c",
        "two fields are called `b` (at offset 14 of the query)",
    ),
    (
        "SELECT 5 FROM c",
        "this selected expression needs a name: add AS and one (at offset 7 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a IS NULL",
        "IS NULL is not supported, write IS_NULL(…) (at offset 26 of the query)",
    ),
    (
        "SELECT * FROM c WHERE c.a ?? 1",
        "the operator `??` is not supported (at offset 26 of the query)",
    ),
    (
        "SELECT * FROM c;",
        "the character `;` is not supported here (at offset 15 of the query)",
    ),
    (
        "SELECT * FROM c WHERE {documentdb-formattableorderbyquery-filter}",
        "the placeholder of a resumed order must be replaced by a filter or by `true` before the query is sent (at offset 22 of the query)",
    ),
];

#[test]
fn says_what_is_not_supported_and_where() {
    for (text, expected) in REFUSALS {
        assert_eq!(error(text), *expected, "{text}");
    }
}
