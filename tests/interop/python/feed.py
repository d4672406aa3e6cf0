"""The change feed in latest-version mode: every start, every scope, resuming, paging."""

from datetime import datetime, timezone

from check import FOUR_RANGES, check, equal


def token(container):
    """The continuation after the last page read: the client gives it nowhere else."""
    return container.client_connection.last_response_headers["etag"]


def read(container, **options):
    """Everything until the feed has nothing more, and the continuation behind it."""
    found = list(container.query_items_change_feed(**options))
    return found, token(container)


def ids(documents):
    return sorted(item["id"] for item in documents)


def fill(container, names, keys=10):
    for number, name in enumerate(names):
        container.upsert_item({"id": name, "pk": f"k{number % keys}", "n": number})


def names(prefix, count):
    return [f"{prefix}{number:03}" for number in range(count)]


@check
def feed_from_beginning_and_resumed(world):
    for throughput in (None, FOUR_RANGES):
        container = world.container(throughput=throughput)
        fill(container, names("a", 40))
        container.upsert_item({"id": "a000", "pk": "k0", "n": "newer"})
        container.delete_item("a001", "k1")
        found, position = read(container, start_time="Beginning", mode="LatestVersion")
        # The latest version only, and no deletes.
        equal(ids(found), ["a000", *names("a", 40)[2:]], "from the beginning")
        equal([item["n"] for item in found if item["id"] == "a000"], ["newer"], "version")
        again, position = read(container, continuation=position)
        equal(again, [], "nothing new")
        fill(container, names("b", 15))
        found, position = read(container, continuation=position)
        equal(ids(found), names("b", 15), "resumed")
        equal(read(container, continuation=position)[0], [], "at the end")


@check
def feed_from_now(world):
    for throughput in (None, FOUR_RANGES):
        container = world.container(throughput=throughput)
        fill(container, names("old", 20))
        found, position = read(container, start_time="Now")
        equal(found, [], "what was before")
        fill(container, names("new", 20))
        equal(ids(read(container, continuation=position)[0]), names("new", 20), "what came")


@check
def feed_order_within_a_key(world):
    container = world.container()
    fill(container, names("a", 30), keys=1)
    found, _ = read(container, start_time="Beginning")
    equal([item["id"] for item in found], names("a", 30), "as written")
    container.upsert_item({"id": "a003", "pk": "k0"})
    found, _ = read(container, start_time="Beginning")
    equal(found[-1]["id"], "a003", "a newer version moves to the end")
    numbers = [item["_lsn"] for item in found]
    equal(numbers, sorted(set(numbers)), "_lsn rises")


@check
def feed_by_range(world):
    container = world.container(throughput=FOUR_RANGES)
    fill(container, names("a", 80), keys=40)
    ranges = list(container.read_feed_ranges())
    equal(len(ranges), 4, "ranges")
    parts, positions = [], []
    for feed_range in ranges:
        found, position = read(container, start_time="Beginning", feed_range=feed_range)
        if not found:
            raise AssertionError("a range has nothing")
        parts += found
        positions.append(position)
    equal(ids(parts), names("a", 80), "the ranges together")
    fill(container, names("b", 40), keys=40)
    parts = [item for position in positions for item in read(container, continuation=position)[0]]
    equal(ids(parts), names("b", 40), "resumed")


@check
def feed_by_partition_key(world):
    container = world.container(throughput=FOUR_RANGES)
    fill(container, names("a", 40), keys=4)
    found, position = read(container, start_time="Beginning", partition_key="k1")
    equal(ids(found), names("a", 40)[1::4], "one key")
    fill(container, names("b", 8), keys=4)
    equal(ids(read(container, continuation=position)[0]), ["b001", "b005"], "resumed")
    key_range = container.feed_range_from_partition_key("k1")
    found, _ = read(container, start_time="Beginning", feed_range=key_range)
    equal(len(found), 12, "the key's feed range")


@check
def feed_from_a_point_in_time(world):
    for throughput in (None, FOUR_RANGES):
        container = world.container(throughput=throughput)
        fill(container, names("old", 20))
        world.control("clock", advanceSeconds=60)
        fill(container, names("new", 20))
        seconds = min(item["_ts"] for item in container.read_all_items() if item["id"].startswith("new"))
        start = datetime.fromtimestamp(seconds - 5, timezone.utc)
        found, _ = read(container, start_time=start)
        equal(ids(found), names("new", 20), "since then")
        # This client cannot resume from here: it reads its own milliseconds as seconds.
        pages = container.query_items_change_feed(start_time=start, max_item_count=3).by_page()
        equal(ids(item for page in pages for item in page), names("new", 20), "paged")


@check
def feed_pages(world):
    container = world.container()
    fill(container, names("a", 25))
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=10).by_page()
    sizes, positions, found = [], [], []
    for page in pages:
        page = list(page)
        sizes.append(len(page))
        positions.append(token(container))
        found += page
    equal(sizes, [10, 10, 5], "sizes")
    equal(ids(found), names("a", 25), "all")
    for number, position in enumerate(positions):
        rest, _ = read(container, continuation=position)
        equal(ids(rest), ids(found[sum(sizes[: number + 1]) :]), f"after page {number + 1}")
