"""Splits, two in a row, under readers in both modes, and merges: nothing lost, nothing doubled."""

from collections import Counter

from check import check, equal, status_of
from feed import fill, names, read, token
from history import name, operations, start


def once(found, wanted, what):
    """Each of `wanted` exactly once."""
    counts = Counter(found)
    lost = sorted(set(wanted) - set(counts))
    doubled = sorted(one for one, count in counts.items() if count > 1)
    strange = sorted(set(counts) - set(wanted))
    if lost or doubled or strange:
        raise AssertionError(f"{what}: lost {lost[:5]}, doubled {doubled[:5]}, strange {strange[:5]}")


def drain(pages):
    return [change for page in pages for change in page]


@check
def splits_under_a_latest_version_reader(world):
    container = world.container()
    wanted = names("a", 60)
    fill(container, wanted)
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=7).by_page()
    live = list(next(pages))
    begun, before = list(live), token(container)
    first, _ = world.split(container, "0")
    live += list(next(pages))
    fill(container, names("b", 30))
    wanted += names("b", 30)
    second = list(next(pages))
    live += second
    between = token(container)
    until_between = list(live)
    world.split(container, first)
    fill(container, names("c", 30))
    wanted += names("c", 30)
    live += drain(pages)
    end = token(container)
    once([item["id"] for item in live], wanted, "the reader that went on")
    equal(len(list(container.read_feed_ranges())), 3, "ranges")

    resumed = begun + read(container, continuation=before)[0]
    once([item["id"] for item in resumed], wanted, "resumed from before both splits")
    resumed = until_between + read(container, continuation=between)[0]
    once([item["id"] for item in resumed], wanted, "resumed from between the splits")
    fill(container, names("d", 10))
    once([item["id"] for item in read(container, continuation=end)[0]], names("d", 10), "after the splits")
    whole = read(container, start_time="Beginning")[0]
    once([item["id"] for item in whole], wanted + names("d", 10), "anew")


@check
def splits_under_a_history_reader(world):
    container = world.container(history=True)
    position = start(container)
    wanted = []

    def write(prefix):
        fill(container, names(prefix, 30))
        for number, one in enumerate(names(prefix, 30)):
            wanted.append(("create", one))
            if number % 3 == 0:
                container.delete_item(one, f"k{number % 10}")
                wanted.append(("delete", one))

    write("a")
    pages = container.query_items_change_feed(continuation=position, max_item_count=7).by_page()
    live = list(next(pages))
    begun, before = list(live), token(container)
    first, _ = world.split(container, "0")
    write("b")
    live += list(next(pages))
    until_between, between = list(live), token(container)
    _, second = world.split(container, first)
    write("c")
    live += drain(pages)
    end = token(container)
    once(operations(live), wanted, "the reader that went on")
    once(operations(read(container, continuation=position)[0]), wanted, "from the first position")
    once(operations(begun + read(container, continuation=before)[0]), wanted, "from before both splits")
    once(operations(until_between + read(container, continuation=between)[0]), wanted, "from between the splits")
    del wanted[:]
    world.split(container, second)
    write("d")
    once(operations(read(container, continuation=end)[0]), wanted, "from before a third split")


@check
def split_of_a_range_being_read_by_range_and_key(world):
    container = world.container(history=True)
    (whole,) = container.read_feed_ranges()
    by_range = start(container, feed_range=whole)
    by_key = start(container, partition_key="k3")
    fill(container, names("a", 40))
    left, right = world.split(container, "0")
    fill(container, names("b", 40))
    world.split(container, left)
    world.split(container, right)
    fill(container, names("c", 40))
    everything = names("a", 40) + names("b", 40) + names("c", 40)
    once([name(change) for change in read(container, continuation=by_range)[0]], everything, "by range")
    wanted = [one for one in everything if int(one[1:]) % 10 == 3]
    found = [name(change) for change in read(container, continuation=by_key)[0]]
    equal(found, wanted, "by key, in order")
    latest = read(container, start_time="Beginning", feed_range=whole, mode="LatestVersion")[0]
    once([item["id"] for item in latest], everything, "latest versions of the old range")


@check
def splits_under_writes_and_queries(world):
    container = world.container()
    fill(container, names("a", 50))
    pages = container.query_items(
        "SELECT * FROM c", enable_cross_partition_query=True, max_item_count=10
    ).by_page()
    found = [item["id"] for item in next(pages)]
    left, _ = world.split(container, "0")
    world.split(container, left)
    for number, one in enumerate(names("a", 50)):
        key = f"k{number % 10}"
        equal(container.read_item(one, key)["n"], number, "read after the splits")
        container.replace_item(one, {"id": one, "pk": key, "n": -number})
    found += [item["id"] for page in pages for item in page]
    once(found, names("a", 50), "a query that was under way")


@check
def merge_under_a_latest_version_reader(world):
    container = world.container()
    fill(container, names("a", 20))
    halves = world.split(container, "0")
    wanted = names("a", 20) + names("b", 40)
    fill(container, names("b", 40))
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=5).by_page()
    live = [item for _ in range(3) for item in next(pages)]
    begun, before = list(live), token(container)
    world.merge(container, halves)
    fill(container, names("c", 30))
    wanted += names("c", 30)
    live += drain(pages)
    end = token(container)
    once([item["id"] for item in live], wanted, "the reader that went on")
    equal(len(list(container.read_feed_ranges())), 1, "ranges")
    once([item["id"] for item in begun + read(container, continuation=before)[0]], wanted, "resumed")
    fill(container, names("d", 10))
    once([item["id"] for item in read(container, continuation=end)[0]], names("d", 10), "after the merge")
    whole = read(container, start_time="Beginning")[0]
    once([item["id"] for item in whole], wanted + names("d", 10), "anew")


@check
def merge_ends_a_history_reader(world):
    container = world.container(history=True)
    halves = world.split(container, "0")
    position = start(container)
    fill(container, names("a", 20))
    found, position = read(container, continuation=position)
    once(operations(found), [("create", one) for one in names("a", 20)], "before the merge")
    world.merge(container, halves)
    fill(container, names("b", 20))
    # The service cannot go on either: silence would be a loss.
    equal(status_of(read, container, continuation=position), 400, "resumed")
    anew = start(container)
    fill(container, names("c", 20))
    found = read(container, continuation=anew)[0]
    once([name(change) for change in found], names("c", 20), "a reader that started after the merge")
