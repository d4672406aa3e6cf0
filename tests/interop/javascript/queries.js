// Queries: across ranges and within a key, ordered, counted, cut, and the refused.

import assert from "node:assert/strict";
import { check, FOUR_RANGES, statusOf } from "./check.js";

/** 60 documents of 12 partition keys in four ranges. */
async function shop(world) {
  const container = await world.container({ throughput: FOUR_RANGES });
  for (let n = 0; n < 60; n += 1) {
    const id = `d${String(n).padStart(2, "0")}`;
    await container.items.create({ id, pk: `k${n % 12}`, n, kind: "abc"[n % 3] });
  }
  await container.items.create({ id: "odd", pk: "k0", kind: null, deep: { list: [1, "two"] } });
  return container;
}

async function all(container, query, options) {
  return (await container.items.query(query, options).fetchAll()).resources;
}

check(async function queries_across_ranges(world) {
  const container = await shop(world);
  const ids = async (where, options, parameters = []) => {
    const found = await all(container, { query: `SELECT * FROM c ${where}`, parameters }, options);
    return found.map(({ id }) => id).sort();
  };
  assert.equal((await ids("")).length, 61);
  assert.deepEqual(await ids("WHERE c.n >= 57"), ["d57", "d58", "d59"]);
  assert.deepEqual(await ids("WHERE c.n > 3 AND c.n <= 5 OR c.id = 'd09'"), ["d04", "d05", "d09"]);
  assert.deepEqual(await ids("WHERE c.n IN (1, 4, 99)"), ["d01", "d04"]);
  assert.deepEqual(await ids("WHERE NOT IS_DEFINED(c.n)"), ["odd"]);
  assert.deepEqual(await ids("WHERE c.kind = null"), ["odd"]);
  assert.deepEqual(await ids("WHERE c.deep.list[1] = 'two'"), ["odd"]);
  assert.equal((await ids("WHERE STARTSWITH(c.id, 'd5')")).length, 10);
  assert.deepEqual(await ids("WHERE c.n < 24", { partitionKey: "k3" }), ["d03", "d15"]);
  const parameters = [
    { name: "@kind", value: "b" },
    { name: "@n", value: 9 },
  ];
  assert.deepEqual(await ids("WHERE c.kind = @kind AND c.n < @n", {}, parameters), ["d01", "d04", "d07"]);
});

check(async function query_projections(world) {
  const container = await shop(world);
  const values = await all(container, "SELECT VALUE c.n FROM c WHERE c.n < 4");
  assert.deepEqual(values.sort(), [0, 1, 2, 3]);
  const fields = await all(container, "SELECT c.id, c.n AS number, c.none FROM c WHERE c.n = 7");
  assert.deepEqual(fields, [{ id: "d07", number: 7 }]);
});

check(async function query_order_by(world) {
  const container = await shop(world);
  const query = "SELECT c.id, c.n FROM c WHERE c.n >= 0 ORDER BY c.n";
  const numbers = Array.from({ length: 60 }, (_, n) => n);
  assert.deepEqual((await all(container, query)).map(({ n }) => n), numbers);
  const descending = await all(container, `${query} DESC`, { maxItemCount: 7 });
  assert.deepEqual(descending.map(({ n }) => n), numbers.toReversed());
  const whole = "SELECT * FROM c WHERE c.n >= 0 ORDER BY c.n DESC";
  const ofKey = await all(container, whole, { partitionKey: "k1" });
  assert.deepEqual(ofKey.map(({ n }) => n), [49, 37, 25, 13, 1]);
});

check(async function query_count(world) {
  const container = await shop(world);
  const count = "SELECT VALUE COUNT(1) FROM c";
  assert.deepEqual(await all(container, count), [61]);
  assert.deepEqual(await all(container, `${count} WHERE c.kind = 'a'`), [20]);
  assert.deepEqual(await all(container, `${count} WHERE c.n = 99`), [0]);
  assert.deepEqual(await all(container, count, { partitionKey: "k0" }), [6]);
});

check(async function query_limits(world) {
  const container = await shop(world);
  const ordered = "FROM c WHERE c.n >= 0 ORDER BY c.n";
  const cut = await all(container, `SELECT c.n ${ordered} OFFSET 10 LIMIT 5`);
  assert.deepEqual(cut.map(({ n }) => n), [10, 11, 12, 13, 14]);
  assert.deepEqual((await all(container, `SELECT TOP 3 c.n ${ordered}`)).map(({ n }) => n), [0, 1, 2]);
  assert.equal((await all(container, "SELECT TOP 4 * FROM c")).length, 4);
  assert.equal((await all(container, "SELECT TOP 2 * FROM c", { partitionKey: "k0" })).length, 2);
});

check(async function query_pages(world) {
  const container = await shop(world);
  const pages = container.items.query("SELECT * FROM c", { maxItemCount: 10 });
  const found = [];
  while (pages.hasMoreResults()) {
    const { resources = [] } = await pages.fetchNext();
    assert.ok(resources.length <= 10);
    found.push(...resources.map(({ id }) => id));
  }
  assert.equal(found.length, 61);
  assert.equal(new Set(found).size, 61);
  // A continuation goes on where a page ended.
  const options = { partitionKey: "k0", maxItemCount: 4 };
  const first = await container.items.query("SELECT * FROM c", options).fetchNext();
  const { continuationToken } = first;
  assert.ok(continuationToken);
  const rest = await all(container, "SELECT * FROM c", { ...options, continuationToken });
  const both = [...first.resources, ...rest].map(({ id }) => id).sort();
  assert.deepEqual(both, ["d00", "d12", "d24", "d36", "d48", "odd"]);
});

check(async function queries_not_supported(world) {
  const container = await shop(world);
  for (const query of [
    "SELECT UDF.price(c) FROM c",
    "SELECT VALUE t FROM c JOIN t IN c.deep.list",
    "SELECT c.kind, COUNT(1) FROM c GROUP BY c.kind",
    "SELEKT * FROM c",
    "SELECT * FROM c WHERE c.n = ",
  ]) {
    assert.equal(await statusOf(all(container, query, { partitionKey: "k0" })), 400, query);
    assert.equal(await statusOf(all(container, query)), 400, `across ranges: ${query}`);
  }
});
