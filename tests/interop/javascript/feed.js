// The change feed in latest-version mode: every start, every scope, resuming, paging.

import assert from "node:assert/strict";
import { ChangeFeedMode, ChangeFeedStartFrom } from "@azure/cosmos";
import { check, FOUR_RANGES } from "./check.js";

/** Everything until the feed has nothing more, the continuation behind it, and the sizes of pages. */
export async function read(container, from, { maxItemCount, mode = ChangeFeedMode.LatestVersion } = {}) {
  const changeFeedStartFrom = typeof from === "string" ? ChangeFeedStartFrom.Continuation(from) : from;
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom, changeFeedMode: mode, maxItemCount });
  return drain(iterator);
}

/** What is left of an iterator. */
export async function drain(iterator) {
  const found = [];
  const sizes = [];
  const positions = [];
  for (;;) {
    const page = await iterator.readNext();
    if (page.statusCode === 304) {
      return { found, sizes, positions, position: page.continuationToken };
    }
    found.push(...page.result);
    sizes.push(page.result.length);
    positions.push(page.continuationToken);
  }
}

export const names = (prefix, count) =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(3, "0")}`);

export async function fill(container, ids, keys = 10) {
  for (const [n, id] of ids.entries()) {
    await container.items.upsert({ id, pk: `k${n % keys}`, n });
  }
}

const ids = (documents) => documents.map(({ id }) => id).sort();
const beginning = (scope) => ChangeFeedStartFrom.Beginning(scope);
const throughputs = [undefined, FOUR_RANGES];

check(async function feed_from_beginning_and_resumed(world) {
  for (const throughput of throughputs) {
    const container = await world.container({ throughput });
    await fill(container, names("a", 40));
    await container.items.upsert({ id: "a000", pk: "k0", n: "newer" });
    await container.item("a001", "k1").delete();
    const first = await read(container, beginning());
    // The latest version only, and no deletes.
    assert.deepEqual(ids(first.found), ["a000", ...names("a", 40).slice(2)]);
    assert.equal(first.found.find(({ id }) => id === "a000").n, "newer");
    const again = await read(container, first.position);
    assert.deepEqual(again.found, []);
    await fill(container, names("b", 15));
    const resumed = await read(container, again.position);
    assert.deepEqual(ids(resumed.found), names("b", 15));
    assert.deepEqual((await read(container, resumed.position)).found, []);
  }
});

check(async function feed_from_now(world) {
  for (const throughput of throughputs) {
    const container = await world.container({ throughput });
    await fill(container, names("old", 20));
    const { found, position } = await read(container, ChangeFeedStartFrom.Now());
    assert.deepEqual(found, []);
    await fill(container, names("new", 20));
    assert.deepEqual(ids((await read(container, position)).found), names("new", 20));
  }
});

check(async function feed_order_within_a_key(world) {
  const container = await world.container();
  await fill(container, names("a", 30), 1);
  await container.items.upsert({ id: "a003", pk: "k0" });
  const { found } = await read(container, beginning());
  const wanted = names("a", 30).filter((id) => id !== "a003");
  assert.deepEqual(found.map(({ id }) => id), [...wanted, "a003"]);
  const numbers = found.map(({ _lsn }) => _lsn);
  assert.deepEqual(numbers, [...new Set(numbers)].sort((left, right) => left - right));
});

check(async function feed_by_range(world) {
  const container = await world.container({ throughput: FOUR_RANGES });
  await fill(container, names("a", 80), 40);
  const ranges = await container.getFeedRanges();
  assert.equal(ranges.length, 4);
  const parts = [];
  for (const range of ranges) {
    const part = await read(container, beginning(range));
    assert.notEqual(part.found.length, 0);
    parts.push(part);
  }
  assert.deepEqual(ids(parts.flatMap(({ found }) => found)), names("a", 80));
  await fill(container, names("b", 40), 40);
  const later = [];
  for (const { position } of parts) {
    later.push(...(await read(container, position)).found);
  }
  assert.deepEqual(ids(later), names("b", 40));
});

check(async function feed_by_partition_key(world) {
  const container = await world.container({ throughput: FOUR_RANGES });
  await fill(container, names("a", 40), 4);
  const { found, position } = await read(container, beginning("k1"));
  assert.deepEqual(ids(found), names("a", 40).filter((_, n) => n % 4 === 1));
  await fill(container, names("b", 8), 4);
  assert.deepEqual(ids((await read(container, position)).found), ["b001", "b005"]);
});

check(async function feed_of_a_hierarchical_key(world) {
  const container = await world.container({ paths: ["/tenant", "/user"], throughput: FOUR_RANGES });
  for (const id of names("a", 30)) {
    const n = Number(id.slice(1));
    await container.items.create({ id, tenant: `t${n % 2}`, user: `u${n % 3}` });
  }
  const { found } = await read(container, beginning(["t1", "u1"]));
  assert.deepEqual(ids(found), names("a", 30).filter((_, n) => n % 6 === 1));
  assert.equal((await read(container, beginning())).found.length, 30);
});

check(async function feed_from_a_point_in_time(world) {
  for (const throughput of throughputs) {
    const container = await world.container({ throughput });
    await fill(container, names("old", 20));
    await world.control("clock", { advanceSeconds: 60 });
    await fill(container, names("new", 20));
    const { resources } = await container.items.readAll().fetchAll();
    const seconds = Math.min(...resources.filter(({ id }) => id.startsWith("new")).map(({ _ts }) => _ts));
    const start = ChangeFeedStartFrom.Time(new Date((seconds - 5) * 1000));
    const { found, position } = await read(container, start, { maxItemCount: 3 });
    assert.deepEqual(ids(found), names("new", 20));
    await fill(container, names("later", 10));
    assert.deepEqual(ids((await read(container, position)).found), names("later", 10));
  }
});

check(async function feed_pages(world) {
  const container = await world.container();
  await fill(container, names("a", 25));
  const { found, sizes, positions } = await read(container, beginning(), { maxItemCount: 10 });
  assert.deepEqual(sizes, [10, 10, 5]);
  assert.deepEqual(ids(found), names("a", 25));
  for (const [index, position] of positions.entries()) {
    const rest = await read(container, position);
    assert.deepEqual(ids(rest.found), ids(found.slice((index + 1) * 10)));
  }
});
