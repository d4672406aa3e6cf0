"""Databases, containers, documents, preconditions, patch, batches, throttling."""

from azure.core import MatchConditions
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosBatchOperationError

from check import FOUR_RANGES, check, endpoint, equal, status_of


@check
def databases_and_containers(world):
    equal(status_of(world.client.create_database, world.database.id), 409, "the same database")
    equal(status_of(world.client.get_database_client("none").read), 404, "no database")
    container = world.container()
    equal(status_of(world.database.create_container, container.id, PartitionKey("/pk")), 409, "the same container")
    equal(status_of(world.database.get_container_client("none").read), 404, "no container")
    found = container.read()
    equal(found["partitionKey"]["paths"], ["/pk"], "paths")
    equal(found["partitionKey"]["version"], 2, "version")
    if container.id not in [item["id"] for item in world.database.list_containers()]:
        raise AssertionError("the container is not listed")
    if world.database.id not in [item["id"] for item in world.client.list_databases()]:
        raise AssertionError("the database is not listed")
    world.database.delete_container(container.id)
    equal(status_of(container.read), 404, "deleted container")
    other = world.client.create_database("interop-python-other")
    other.create_container("c", PartitionKey("/pk"))
    world.client.delete_database(other.id)
    equal(status_of(other.read), 404, "deleted database")


@check
def create_read_replace_delete(world):
    container = world.container()
    made = container.create_item({"id": "a", "pk": "p", "text": "ä€😀", "n": 1.5, "list": [1, None, True]})
    found = container.read_item("a", "p")
    equal(dict(found), dict(made), "what was created")
    equal((found["text"], found["n"], found["list"]), ("ä€😀", 1.5, [1, None, True]), "values")
    for field in ("_rid", "_self", "_etag", "_ts"):
        if not found.get(field):
            raise AssertionError(f"no {field}")
    equal(status_of(container.create_item, {"id": "a", "pk": "p"}), 409, "create again")
    # An id is unique within a partition key only.
    container.create_item({"id": "a", "pk": "q"})
    replaced = container.replace_item("a", {"id": "a", "pk": "p", "n": 2})
    equal(replaced["n"], 2)
    equal("text" in replaced, False, "a replace keeps nothing")
    if replaced["_etag"] == made["_etag"]:
        raise AssertionError("the etag stayed")
    equal(replaced["_rid"], made["_rid"], "_rid after replace")
    container.delete_item("a", "p")
    equal(status_of(container.read_item, "a", "p"), 404, "read")
    equal(status_of(container.replace_item, "a", {"id": "a", "pk": "p"}), 404, "replace")
    equal(status_of(container.delete_item, "a", "p"), 404, "delete")
    equal(container.read_item("a", "q")["pk"], "q", "the other partition key")


@check
def odd_ids_and_keys(world):
    container = world.container()
    for number, (name, key) in enumerate(
        [("a b", "x y"), ("ä+%20", 'quote"d'), ("dot.", 12), ("n", -0.5), ("t", True), ("null", None), ("é" * 60, "é" * 60)]
    ):
        container.create_item({"id": name, "pk": key, "number": number})
        equal(container.read_item(name, key)["number"], number, name)
        container.delete_item(name, key)
        equal(status_of(container.read_item, name, key), 404, name)
    # No value at all is a partition key of its own.
    container.create_item({"id": "none"})
    found = [item["id"] for item in container.query_items("SELECT * FROM c", enable_cross_partition_query=True)]
    equal(found, ["none"], "without a key")


@check
def upsert(world):
    container = world.container()
    made = container.upsert_item({"id": "a", "pk": "p", "n": 1})
    again = container.upsert_item({"id": "a", "pk": "p", "n": 2})
    equal(made["_rid"], again["_rid"], "_rid")
    equal(container.read_item("a", "p")["n"], 2)


@check
def preconditions(world):
    container = world.container()
    first = container.create_item({"id": "a", "pk": "p", "n": 1})
    unless = {"match_condition": MatchConditions.IfNotModified}
    second = container.replace_item("a", {"id": "a", "pk": "p", "n": 2}, etag=first["_etag"], **unless)
    stale = {"etag": first["_etag"], **unless}
    equal(status_of(container.replace_item, "a", {"id": "a", "pk": "p", "n": 3}, **stale), 412, "replace")
    equal(status_of(container.upsert_item, {"id": "a", "pk": "p", "n": 3}, **stale), 412, "upsert")
    equal(status_of(container.delete_item, "a", "p", **stale), 412, "delete")
    operations = [{"op": "incr", "path": "/n", "value": 1}]
    equal(status_of(container.patch_item, "a", "p", operations, **stale), 412, "patch")
    equal(container.read_item("a", "p")["_etag"], second["_etag"], "nothing changed")
    known = container.read_item("a", "p", etag=second["_etag"], match_condition=MatchConditions.IfModified)
    equal(dict(known), {}, "a read of what is known brings nothing")
    container.delete_item("a", "p", etag=second["_etag"], **unless)
    equal(status_of(container.read_item, "a", "p"), 404)


@check
def patch(world):
    container = world.container()
    container.create_item({"id": "a", "pk": "p", "n": 1, "deep": {"list": [1, 3]}, "old": 1, "gone": 1})
    found = container.patch_item(
        "a",
        "p",
        [
            {"op": "add", "path": "/deep/list/1", "value": 2},
            {"op": "add", "path": "/deep/list/-", "value": 4},
            {"op": "set", "path": "/deep/x", "value": {"y": None}},
            {"op": "replace", "path": "/old", "value": 2},
            {"op": "remove", "path": "/gone"},
            {"op": "incr", "path": "/n", "value": 2.5},
            {"op": "move", "from": "/old", "path": "/new"},
        ],
    )
    body = {name: value for name, value in found.items() if not name.startswith("_")}
    equal(body, {"id": "a", "pk": "p", "n": 3.5, "deep": {"list": [1, 2, 3, 4], "x": {"y": None}}, "new": 2}, "patched")
    wrong = [{"op": "set", "path": "/n", "value": 0}, {"op": "replace", "path": "/none", "value": 1}]
    equal(status_of(container.patch_item, "a", "p", wrong), 400, "replace of nothing")
    equal(container.read_item("a", "p")["n"], 3.5, "a refused patch does nothing")
    equal(status_of(container.patch_item, "b", "p", wrong[:1]), 404, "no such document")
    unmet = {"filter_predicate": "FROM c WHERE c.n = 99"}
    equal(status_of(container.patch_item, "a", "p", wrong[:1], **unmet), 412, "predicate")
    met = {"filter_predicate": "FROM c WHERE c.n = 3.5"}
    equal(container.patch_item("a", "p", wrong[:1], **met)["n"], 0, "predicate")


@check
def batch(world):
    container = world.container(history=True)
    container.create_item({"id": "r", "pk": "p", "n": 1})
    container.create_item({"id": "d", "pk": "p"})
    results = container.execute_item_batch(
        [
            ("create", ({"id": "c", "pk": "p"},)),
            ("replace", ("r", {"id": "r", "pk": "p", "n": 2})),
            ("upsert", ({"id": "u", "pk": "p"},)),
            ("patch", ("r", [{"op": "incr", "path": "/n", "value": 1}])),
            ("read", ("r",)),
            ("delete", ("d",)),
        ],
        "p",
    )
    equal([result["statusCode"] for result in results], [201, 200, 201, 200, 200, 204], "statuses")
    equal(results[4]["resourceBody"]["n"], 3, "read within the batch")
    equal(status_of(container.read_item, "d", "p"), 404, "deleted")
    # All of it is one write.
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=1).by_page()
    numbers = {item["id"]: item["_lsn"] for page in pages for item in page}
    equal(sorted(numbers), ["c", "r", "u"], "changes")
    equal(len(set(numbers.values())), 1, "sequence numbers")


@check
def batch_rolled_back(world):
    container = world.container()
    container.create_item({"id": "taken", "pk": "p"})
    operations = [
        ("create", ({"id": "a", "pk": "p"},)),
        ("create", ({"id": "taken", "pk": "p"},)),
        ("create", ({"id": "b", "pk": "p"},)),
    ]
    try:
        container.execute_item_batch(operations, "p")
    except CosmosBatchOperationError as error:
        equal(error.error_index, 1, "which one")
        statuses = [result["statusCode"] for result in error.operation_responses]
        equal(statuses, [424, 409, 424], "statuses")
    else:
        raise AssertionError("it was not refused")
    for name in ("a", "b"):
        equal(status_of(container.read_item, name, "p"), 404, name)


@check
def hierarchical_keys(world):
    container = world.container(["/tenant", "/user"], throughput=FOUR_RANGES)
    for tenant in ("t1", "t2"):
        for user in ("u1", "u2", "u3"):
            container.create_item({"id": "a", "tenant": tenant, "user": user})
            container.create_item({"id": "b", "tenant": tenant, "user": user})
    equal(container.read_item("a", ["t1", "u2"])["user"], "u2", "read")
    equal(status_of(container.read_item, "a", ["t1", "u9"]), 404, "no such key")
    equal(status_of(container.create_item, {"id": "a", "tenant": "t1", "user": "u1"}), 409, "the same key")
    container.delete_item("b", ["t2", "u3"])
    found = container.query_items("SELECT * FROM c", partition_key=["t2", "u2"])
    equal(sorted(item["id"] for item in found), ["a", "b"], "one key")
    found = container.query_items("SELECT * FROM c", partition_key=["t2"])
    equal(
        sorted((item["user"], item["id"]) for item in found),
        [("u1", "a"), ("u1", "b"), ("u2", "a"), ("u2", "b"), ("u3", "a")],
        "the first part of a key",
    )
    feed = container.query_items_change_feed(start_time="Beginning", partition_key=["t1", "u1"])
    equal(sorted(item["id"] for item in feed), ["a", "b"], "feed of one key")
    feed = container.query_items_change_feed(start_time="Beginning", partition_key=["t1"])
    equal(sorted(item["user"] for item in feed), ["u1", "u1", "u2", "u2", "u3", "u3"], "feed of a first part")


@check
def many_at_once(world):
    container = world.container(throughput=FOUR_RANGES)
    for number in range(40):
        container.create_item({"id": f"d{number}", "pk": f"k{number % 20}", "n": number})
    wanted = [(f"d{number}", f"k{number % 20}") for number in range(0, 40, 3)]
    found = container.read_items([*wanted, ("none", "k1")])
    equal(sorted((item["id"], item["pk"]) for item in found), sorted(wanted), "found")


@check
def container_replaced(world):
    container = world.container()
    container.create_item({"id": "a", "pk": "p"})
    world.database.replace_container(container, PartitionKey("/pk", version=2), default_ttl=30)
    equal(container.read()["defaultTtl"], 30, "defaultTtl")
    equal(container.read_item("a", "p")["id"], "a", "what was there")
    world.control("clock", advanceSeconds=60)
    equal(status_of(container.read_item, "a", "p"), 404, "what was there expires")


@check
def throttled(world):
    container = world.container()
    world.control("throttle", requests=3, retryAfterMs=30)
    container.create_item({"id": "a", "pk": "p"})
    world.control("throttle", requests=2, retryAfterMs=30)
    equal(container.read_item("a", "p")["id"], "a", "read")
    world.control("throttle", requests=2, retryAfterMs=30)
    found = list(container.query_items_change_feed(start_time="Beginning"))
    equal([item["id"] for item in found], ["a"], "feed")


@check
def wrong_key_is_refused(world):
    def attempt():
        CosmosClient(endpoint(), "d3Jvbmc=").get_database_client(world.database.id).read()

    equal(status_of(attempt), 401, "a wrong account key")
