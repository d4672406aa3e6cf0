"""The change feed with all versions and deletes."""

import time

from azure.cosmos.exceptions import CosmosHttpResponseError

from check import FOUR_RANGES, check, equal, status_of
from feed import fill, names, read, token

HISTORY = {"mode": "AllVersionsAndDeletes"}


def start(container, **options):
    """A position that is now."""
    found, position = read(container, **HISTORY, **options)
    equal(found, [], "changes at the start")
    return position


def operations(changes):
    return [(change["metadata"]["operationType"], name(change)) for change in changes]


def name(change):
    return (change.get("current") or {}).get("id") or change["metadata"]["id"]


@check
def history_operations(world):
    for throughput in (None, FOUR_RANGES):
        container = world.container(throughput=throughput, history=True)
        fill(container, names("before", 5))
        position = start(container)
        container.create_item({"id": "a", "pk": "p", "n": 1})
        container.replace_item("a", {"id": "a", "pk": "p", "n": 2})
        container.upsert_item({"id": "a", "pk": "p", "n": 3})
        container.patch_item("a", "p", [{"op": "incr", "path": "/n", "value": 1}])
        container.delete_item("a", "p")
        container.create_item({"id": "a", "pk": "p", "n": 5})
        changes, end = read(container, continuation=position)
        wanted = ["create", "replace", "replace", "replace", "delete", "create"]
        equal(operations(changes), [(operation, "a") for operation in wanted], "operations")
        equal([change["current"]["n"] for change in changes if change.get("current")], [1, 2, 3, 4, 5], "versions")
        numbers = [change["metadata"]["lsn"] for change in changes]
        equal(numbers, sorted(set(numbers)), "numbers rise")
        delete = changes[4]["metadata"]
        equal((delete["id"], delete["partitionKey"]), ("a", {"pk": "p"}), "who was deleted")
        equal(delete["previousImageLSN"], changes[3]["metadata"]["lsn"], "previousImageLSN of the delete")
        equal(changes[1]["metadata"]["previousImageLSN"], numbers[0], "previousImageLSN of the replace")
        equal(bool(delete.get("timeToLiveExpired")), False, "timeToLiveExpired")
        equal(any(change.get("previous") for change in changes), False, "previous images unasked")
        if not all(change["metadata"]["crts"] > 1_600_000_000 for change in changes):
            raise AssertionError("crts is no time")
        # The same again from the same position, and nothing from its end.
        equal(operations(read(container, continuation=position)[0]), operations(changes), "again")
        equal(read(container, continuation=end)[0], [], "at the end")


@check
def history_resumed_page_by_page(world):
    container = world.container(history=True)
    position = start(container)
    wanted = []
    for number in range(12):
        container.create_item({"id": f"d{number:02}", "pk": "p"})
        container.delete_item(f"d{number:02}", "p")
        wanted += [("create", f"d{number:02}"), ("delete", f"d{number:02}")]
    found = []
    while True:
        # Each page with an iterator of its own, as after a restart.
        pages = container.query_items_change_feed(continuation=position, max_item_count=5).by_page()
        page = list(next(pages, []))
        position = token(container)
        if not page:
            break
        if len(page) > 5:
            raise AssertionError("a page is too long")
        found += operations(page)
    equal(found, wanted, "changes")


@check
def history_by_range_and_key(world):
    container = world.container(throughput=FOUR_RANGES, history=True)
    positions = [start(container, feed_range=feed_range) for feed_range in container.read_feed_ranges()]
    of_key = start(container, partition_key="k1")
    fill(container, names("a", 40))
    for number in range(0, 40, 10):
        container.delete_item(f"a{number:03}", "k0")
    changes = [change for position in positions for change in read(container, continuation=position)[0]]
    wanted = [("create", one) for one in names("a", 40)] + [("delete", one) for one in names("a", 40)[::10]]
    equal(sorted(operations(changes)), sorted(wanted), "the ranges together")
    equal([name(change) for change in read(container, continuation=of_key)[0]], names("a", 40)[1::10], "one key")


@check
def history_of_a_batch(world):
    container = world.container(history=True)
    container.create_item({"id": "d", "pk": "p"})
    position = start(container)
    container.execute_item_batch(
        [("create", ({"id": "a", "pk": "p"},)), ("create", ({"id": "b", "pk": "p"},)), ("delete", ("d",))], "p"
    )
    pages = container.query_items_change_feed(continuation=position, max_item_count=1).by_page()
    changes = [change for page in pages for change in page]
    equal(sorted(operations(changes)), [("create", "a"), ("create", "b"), ("delete", "d")], "changes")
    equal(len({change["metadata"]["lsn"] for change in changes}), 1, "sequence numbers")


@check
def history_of_what_expired(world):
    container = world.container(history=True, default_ttl=30)
    position = start(container)
    container.create_item({"id": "default", "pk": "p"})
    container.create_item({"id": "longer", "pk": "p", "ttl": 1000})
    container.create_item({"id": "forever", "pk": "p", "ttl": -1})
    world.control("clock", advanceSeconds=60)
    equal(status_of(container.read_item, "default", "p"), 404, "what expired")
    equal(container.read_item("longer", "p")["id"], "longer", "what did not")
    changes = []
    deadline = time.monotonic() + 20
    # When an expired document is purged is the service's business.
    while len(changes) < 4 and time.monotonic() < deadline:
        found, position = read(container, continuation=position)
        changes += found
    equal(operations(changes)[3:], [("delete", "default")], "deletes")
    equal(changes[3]["metadata"]["timeToLiveExpired"], True, "timeToLiveExpired")
    equal(changes[3]["metadata"]["partitionKey"], {"pk": "p"}, "partitionKey")


@check
def history_with_previous_images(world):
    # Containers that are made after the switch keep them.
    world.control("settings", previousImages=True)
    try:
        container = world.container(history=True)
    finally:
        world.control("settings", previousImages=False)
    position = start(container)
    container.create_item({"id": "a", "pk": "p", "n": 1})
    container.replace_item("a", {"id": "a", "pk": "p", "n": 2})
    container.delete_item("a", "p")
    changes, _ = read(container, continuation=position)
    equal([(change.get("previous") or {}).get("n") for change in changes], [None, 1, 2], "previous images")


@check
def history_needs_a_policy(world):
    container = world.container()
    try:
        list(container.query_items_change_feed(**HISTORY))
    except CosmosHttpResponseError as error:
        equal(error.status_code, 400, "status")
        if "must be enabled" not in str(error):
            raise AssertionError(f"it says {error}") from error
    else:
        raise AssertionError("it was not refused")
