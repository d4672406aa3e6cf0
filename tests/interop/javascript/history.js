// The change feed with all versions and deletes.

import assert from "node:assert/strict";
import { ChangeFeedMode, ChangeFeedStartFrom } from "@azure/cosmos";
import { check, FOUR_RANGES } from "./check.js";
import { fill, names, read } from "./feed.js";

export const HISTORY = { mode: ChangeFeedMode.AllVersionsAndDeletes };

/** A position that is now. */
export async function start(container, scope) {
  const { found, position } = await read(container, ChangeFeedStartFrom.Now(scope), HISTORY);
  assert.deepEqual(found, []);
  return position;
}

export const name = ({ current, metadata }) => current?.id ?? metadata.id;
export const operations = (changes) => changes.map((change) => `${change.metadata.operationType} ${name(change)}`);

check(async function history_operations(world) {
  for (const throughput of [undefined, FOUR_RANGES]) {
    const container = await world.container({ throughput, history: true });
    await fill(container, names("before", 5));
    const position = await start(container);
    const item = container.item("a", "p");
    await container.items.create({ id: "a", pk: "p", n: 1 });
    await item.replace({ id: "a", pk: "p", n: 2 });
    await container.items.upsert({ id: "a", pk: "p", n: 3 });
    await item.patch([{ op: "incr", path: "/n", value: 1 }]);
    await item.delete();
    await container.items.create({ id: "a", pk: "p", n: 5 });
    const { found, position: end } = await read(container, position, HISTORY);
    const wanted = ["create", "replace", "replace", "replace", "delete", "create"];
    assert.deepEqual(operations(found), wanted.map((operation) => `${operation} a`));
    const versions = found.flatMap(({ current }) => (current?.n === undefined ? [] : [current.n]));
    assert.deepEqual(versions, [1, 2, 3, 4, 5]);
    const numbers = found.map(({ metadata }) => metadata.lsn);
    assert.deepEqual(numbers, [...new Set(numbers)].sort((left, right) => left - right));
    const { metadata } = found[4];
    assert.deepEqual([metadata.id, metadata.partitionKey], ["a", { pk: "p" }]);
    assert.equal(metadata.previousImageLSN, numbers[3]);
    assert.equal(found[1].metadata.previousImageLSN, numbers[0]);
    assert.ok(!metadata.timeToLiveExpired);
    assert.ok(!found.some(({ previous }) => previous), "previous images unasked");
    assert.ok(found.every((change) => change.metadata.crts > 1_600_000_000));
    assert.deepEqual((await read(container, position, HISTORY)).found, found);
    assert.deepEqual((await read(container, end, HISTORY)).found, []);
  }
});

check(async function history_resumed_page_by_page(world) {
  const container = await world.container({ history: true });
  let position = await start(container);
  const wanted = [];
  for (const id of names("d", 12)) {
    await container.items.create({ id, pk: "p" });
    await container.item(id, "p").delete();
    wanted.push(`create ${id}`, `delete ${id}`);
  }
  const changes = [];
  for (;;) {
    // Each page with an iterator of its own, as after a restart.
    const page = await container.items
      .getChangeFeedIterator({
        changeFeedStartFrom: ChangeFeedStartFrom.Continuation(position),
        changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
        maxItemCount: 5,
      })
      .readNext();
    position = page.continuationToken;
    if (page.statusCode === 304) {
      break;
    }
    assert.ok(page.result.length <= 5);
    changes.push(...operations(page.result));
  }
  assert.deepEqual(changes, wanted);
});

check(async function history_by_range_and_key(world) {
  const container = await world.container({ throughput: FOUR_RANGES, history: true });
  const positions = [];
  for (const range of await container.getFeedRanges()) {
    positions.push(await start(container, range));
  }
  const ofKey = await start(container, "k1");
  await fill(container, names("a", 40));
  const gone = names("a", 40).filter((_, n) => n % 10 === 0);
  for (const id of gone) {
    await container.item(id, "k0").delete();
  }
  const changes = [];
  for (const position of positions) {
    changes.push(...operations((await read(container, position, HISTORY)).found));
  }
  const wanted = [...names("a", 40).map((id) => `create ${id}`), ...gone.map((id) => `delete ${id}`)];
  assert.deepEqual(changes.sort(), wanted.sort());
  const { found } = await read(container, ofKey, HISTORY);
  assert.deepEqual(found.map(name), names("a", 40).filter((_, n) => n % 10 === 1));
});

check(async function history_of_a_batch(world) {
  const container = await world.container({ history: true });
  await container.items.create({ id: "d", pk: "p" });
  const position = await start(container);
  await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "a", pk: "p" } },
      { operationType: "Create", resourceBody: { id: "b", pk: "p" } },
      { operationType: "Delete", id: "d" },
    ],
    "p",
  );
  const { found, sizes } = await read(container, position, { ...HISTORY, maxItemCount: 1 });
  assert.deepEqual(operations(found).sort(), ["create a", "create b", "delete d"]);
  // A page is never cut inside one write.
  assert.deepEqual(sizes, [3]);
  assert.equal(new Set(found.map(({ metadata }) => metadata.lsn)).size, 1);
});

check(async function history_of_what_expired(world) {
  const container = await world.container({ history: true, defaultTtl: 30 });
  let position = await start(container);
  await container.items.create({ id: "default", pk: "p" });
  await container.items.create({ id: "longer", pk: "p", ttl: 1000 });
  await container.items.create({ id: "forever", pk: "p", ttl: -1 });
  await world.control("clock", { advanceSeconds: 60 });
  assert.equal((await container.item("default", "p").read()).statusCode, 404);
  assert.equal((await container.item("longer", "p").read()).statusCode, 200);
  const changes = [];
  // When an expired document is purged is the service's business.
  for (const deadline = Date.now() + 20_000; changes.length < 4 && Date.now() < deadline; ) {
    const page = await read(container, position, HISTORY);
    changes.push(...page.found);
    position = page.position;
  }
  assert.deepEqual(operations(changes).slice(3), ["delete default"]);
  assert.equal(changes[3].metadata.timeToLiveExpired, true);
  assert.deepEqual(changes[3].metadata.partitionKey, { pk: "p" });
});

check(async function history_needs_a_policy(world) {
  const container = await world.container();
  await assert.rejects(read(container, ChangeFeedStartFrom.Now(), HISTORY), (error) => {
    assert.equal(error.code, 400);
    assert.match(error.message, /must be enabled/);
    return true;
  });
});

check(async function history_has_no_beginning(world) {
  const container = await world.container({ history: true });
  await assert.rejects(read(container, ChangeFeedStartFrom.Beginning(), HISTORY));
});
