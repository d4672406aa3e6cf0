"""Upserts a file of JSON lines, several at a time.

Documents with one id and partition key keep the file's order: a worker gets all of a key.
"""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor

from azure.cosmos import PartitionKey, exceptions

from check import connect

# What a writer tries again: an upsert may be made twice.
AGAIN = {408, 410, 429, 449, 500, 503}


def arguments(parser):
    parser.add_argument("file")
    parser.add_argument("--database", required=True)
    parser.add_argument("--container", required=True)
    parser.add_argument("--key", default="/id", help="partition key of a container that is made")
    parser.add_argument("--history", action="store_true", help="a container made keeps all versions and deletes")
    parser.add_argument("--workers", type=int, default=8)


def run(options):
    client = connect()
    database = client.create_database_if_not_exists(options.database)
    kept = {"change_feed_policy": {"retentionDuration": 10}} if options.history else {}
    container = database.create_container_if_not_exists(
        options.container, PartitionKey(path=options.key, version=2), **kept
    )
    shares = [[] for _ in range(options.workers)]
    with open(options.file, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                document = json.loads(line)
                shares[zlib.crc32(document["id"].encode()) % len(shares)].append(document)

    def upsert(share):
        for document in share:
            while True:
                try:
                    container.upsert_item(document)
                    break
                except exceptions.CosmosHttpResponseError as error:
                    if error.status_code not in AGAIN:
                        raise
        return len(share)

    with ThreadPoolExecutor(options.workers) as pool:
        print(f"{sum(pool.map(upsert, shares))} documents written", flush=True)
