"""The list of checks and what they share: the client, the control endpoint, containers of their own.

A check is a function marked with `@check`. It gets a `World` and fails by raising.
"""

import json
import os
import sys
import traceback
import urllib.request

from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

# The emulator's key is public knowledge: every Cosmos DB emulator has it.
KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="
FOUR_RANGES = 40_000

CHECKS = []


def check(function):
    """Adds the function to what `client.py check` runs."""
    CHECKS.append(function)
    return function


def endpoint():
    return os.environ["COSMOS_ENDPOINT"]


def connect():
    return CosmosClient(endpoint(), os.environ.get("COSMOS_KEY", KEY))


class World:
    """One database; each check makes containers in it."""

    def __init__(self):
        self.client = connect()
        self.database = self.client.create_database("interop-python")
        self.made = 0

    def container(self, path="/pk", throughput=None, history=False, **options):
        """A new container; with `history` it keeps all versions and deletes."""
        self.made += 1
        if history:
            options["change_feed_policy"] = {"retentionDuration": 10}
        kind = "MultiHash" if isinstance(path, list) else "Hash"
        return self.database.create_container(
            f"c{self.made}",
            PartitionKey(path=path, kind=kind, version=2),
            offer_throughput=throughput,
            **options,
        )

    def control(self, command, **body):
        request = urllib.request.Request(
            f"{endpoint().rstrip('/')}/_control/{command}",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or b"{}")

    def split(self, container, split_range):
        """Splits a range in two; gives the ids of both."""
        answer = self.control(
            "split", database=self.database.id, container=container.id, range=split_range
        )
        return answer["ranges"]

    def merge(self, container, ranges):
        """Merges two neighbouring ranges; gives the id of the one."""
        answer = self.control(
            "merge", database=self.database.id, container=container.id, ranges=ranges
        )
        return answer["range"]


def status_of(call, *arguments, **options):
    """The status that the call is refused with."""
    try:
        call(*arguments, **options)
    except CosmosHttpResponseError as error:
        return error.status_code
    raise AssertionError("it was not refused")


def equal(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")


def run(only):
    """Runs the checks whose names contain `only`; says whether all are well."""
    world = World()
    good = True
    for function in CHECKS:
        name = function.__name__
        if only not in name:
            continue
        try:
            function(world)
            print(f"ok {name}", flush=True)
        except Exception as error:
            good = False
            why = " ".join(f"{type(error).__name__}: {error}".split())
            print(f"FAILED {name}: {why[:600]}", flush=True)
            traceback.print_exc(file=sys.stderr)
    return good
