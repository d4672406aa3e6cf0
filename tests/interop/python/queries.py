"""Queries: across ranges and within a key, ordered, counted, cut, and the refused."""

from check import FOUR_RANGES, check, equal, status_of

EVERYWHERE = {"enable_cross_partition_query": True}


def shop(world):
    """60 documents of 12 partition keys in four ranges."""
    container = world.container(throughput=FOUR_RANGES)
    for number in range(60):
        container.create_item(
            {"id": f"d{number:02}", "pk": f"k{number % 12}", "n": number, "half": number // 2, "kind": "abc"[number % 3]}
        )
    container.create_item({"id": "odd", "pk": "k0", "kind": None, "deep": {"list": [1, "two"]}})
    return container


@check
def queries_across_ranges(world):
    container = shop(world)
    equal(len(list(container.read_all_items())), 61, "read all")

    def ids(where, **options):
        options = options or EVERYWHERE
        return sorted(item["id"] for item in container.query_items(f"SELECT * FROM c {where}", **options))

    equal(len(ids("")), 61, "all")
    equal(ids("WHERE c.n >= 57"), ["d57", "d58", "d59"], ">=")
    equal(ids("WHERE c.n > 3 AND c.n <= 5 OR c.id = 'd09'"), ["d04", "d05", "d09"], "AND, OR")
    equal(ids("WHERE c.n IN (1, 4, 99)"), ["d01", "d04"], "IN")
    equal(ids("WHERE NOT IS_DEFINED(c.n)"), ["odd"], "IS_DEFINED")
    equal(ids("WHERE c.kind = null"), ["odd"], "null")
    equal(ids("WHERE c.deep.list[1] = 'two'"), ["odd"], "a path")
    equal(ids("WHERE STARTSWITH(c.id, 'd5')"), [f"d5{digit}" for digit in range(10)], "STARTSWITH")
    equal(ids("WHERE c.n < 24", partition_key="k3"), ["d03", "d15"], "one key")
    equal(
        ids("WHERE c.kind = @kind AND c.n < @n", parameters=[{"name": "@kind", "value": "b"}, {"name": "@n", "value": 9}], **EVERYWHERE),
        ["d01", "d04", "d07"],
        "parameters",
    )


@check
def query_projections(world):
    container = shop(world)
    found = list(container.query_items("SELECT VALUE c.n FROM c WHERE c.n < 4", **EVERYWHERE))
    equal(sorted(found), [0, 1, 2, 3], "VALUE")
    found = list(container.query_items("SELECT c.id, c.n AS number FROM c WHERE c.n = 7", **EVERYWHERE))
    equal(found, [{"id": "d07", "number": 7}], "fields")
    found = list(container.query_items("SELECT c.id, c.none FROM c WHERE c.n = 7", **EVERYWHERE))
    equal(found, [{"id": "d07"}], "a field that is missing")


@check
def query_order_by(world):
    container = shop(world)
    query = "SELECT c.id, c.n FROM c WHERE c.n >= 0 ORDER BY c.n"
    found = [item["n"] for item in container.query_items(query, **EVERYWHERE)]
    equal(found, list(range(60)), "ascending")
    pages = container.query_items(f"{query} DESC", max_item_count=7, **EVERYWHERE).by_page()
    equal([item["n"] for page in pages for item in page], list(range(59, -1, -1)), "descending, paged")
    found = container.query_items("SELECT * FROM c WHERE c.n >= 0 ORDER BY c.n DESC", partition_key="k1")
    equal([item["n"] for item in found], [49, 37, 25, 13, 1], "within a key")


@check
def query_count(world):
    container = shop(world)
    count = "SELECT VALUE COUNT(1) FROM c"
    equal(list(container.query_items(count, **EVERYWHERE)), [61], "all")
    equal(list(container.query_items(f"{count} WHERE c.kind = 'a'", **EVERYWHERE)), [20], "some")
    equal(list(container.query_items(f"{count} WHERE c.n = 99", **EVERYWHERE)), [0], "none")
    equal(list(container.query_items(count, partition_key="k0")), [6], "one key")


@check
def query_limits(world):
    container = shop(world)
    ordered = "FROM c WHERE c.n >= 0 ORDER BY c.n"
    found = container.query_items(f"SELECT c.n {ordered} OFFSET 10 LIMIT 5", **EVERYWHERE)
    equal([item["n"] for item in found], [10, 11, 12, 13, 14], "OFFSET LIMIT")
    found = container.query_items(f"SELECT TOP 3 c.n {ordered}", **EVERYWHERE)
    equal([item["n"] for item in found], [0, 1, 2], "TOP, ordered")
    found = list(container.query_items("SELECT TOP 4 * FROM c", **EVERYWHERE))
    equal(len(found), 4, "TOP")
    found = list(container.query_items("SELECT TOP 2 * FROM c", partition_key="k0"))
    equal(len(found), 2, "TOP in one key")


@check
def query_pages(world):
    container = shop(world)
    pages = [list(page) for page in container.query_items("SELECT * FROM c", max_item_count=10, **EVERYWHERE).by_page()]
    if any(len(page) > 10 for page in pages):
        raise AssertionError("a page is too long")
    equal(len({item["id"] for page in pages for item in page}), 61, "distinct")
    equal(sum(map(len, pages)), 61, "all pages")
    # A continuation goes on where a page ended.
    first = container.query_items("SELECT * FROM c", partition_key="k0", max_item_count=4).by_page()
    begun = [item["id"] for item in next(first)]
    rest = container.query_items("SELECT * FROM c", partition_key="k0", max_item_count=4)
    resumed = [item["id"] for page in rest.by_page(first.continuation_token) for item in page]
    equal(sorted(begun + resumed), ["d00", "d12", "d24", "d36", "d48", "odd"], "resumed")


@check
def queries_not_supported(world):
    container = shop(world)
    for query in (
        "SELECT UDF.price(c) FROM c",
        "SELECT VALUE t FROM c JOIN t IN c.deep.list",
        "SELECT c.kind, COUNT(1) FROM c GROUP BY c.kind",
        "SELEKT * FROM c",
        "SELECT * FROM c WHERE c.n = ",
    ):
        status = status_of(lambda: list(container.query_items(query, partition_key="k0")))
        equal(status, 400, query)
        status = status_of(lambda: list(container.query_items(query, **EVERYWHERE)))
        equal(status, 400, f"across ranges: {query}")
