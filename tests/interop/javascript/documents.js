// Databases, containers, documents, preconditions, patch, batches, throttling.

import assert from "node:assert/strict";
import { check, connect, FOUR_RANGES, statusOf } from "./check.js";

const name = ({ id }) => id;

/** A document without what the service adds. */
export function body(document) {
  return Object.fromEntries(Object.entries(document).filter(([field]) => !field.startsWith("_")));
}

check(async function databases_and_containers(world) {
  assert.equal(await statusOf(world.client.databases.create({ id: world.database.id })), 409);
  assert.equal(await statusOf(world.client.database("none").read()), 404);
  const container = await world.container();
  assert.equal(await statusOf(world.database.containers.create({ id: container.id, partitionKey: "/pk" })), 409);
  assert.equal(await statusOf(world.database.container("none").read()), 404);
  const { resource } = await container.read();
  assert.deepEqual([resource.partitionKey.paths, resource.partitionKey.version], [["/pk"], 2]);
  const { resources: containers } = await world.database.containers.readAll().fetchAll();
  assert.ok(containers.map(name).includes(container.id));
  const { resources: databases } = await world.client.databases.readAll().fetchAll();
  assert.ok(databases.map(name).includes(world.database.id));
  await container.delete();
  assert.equal(await statusOf(container.read()), 404);
  await world.client.databases.createIfNotExists({ id: "interop-javascript-other" });
  const { database: other } = await world.client.databases.createIfNotExists({ id: "interop-javascript-other" });
  await other.containers.createIfNotExists({ id: "c", partitionKey: "/pk" });
  await other.delete();
  assert.equal(await statusOf(other.read()), 404);
});

check(async function create_read_replace_delete(world) {
  const container = await world.container();
  const written = { id: "a", pk: "p", text: "ä€😀", n: 1.5, list: [1, null, true] };
  const { resource: made } = await container.items.create(written);
  const { resource: found } = await container.item("a", "p").read();
  assert.deepEqual(found, made);
  assert.deepEqual(body(found), written);
  assert.ok(found._rid && found._self && found._etag && found._ts);
  assert.equal(await statusOf(container.items.create({ id: "a", pk: "p" })), 409);
  await container.items.create({ id: "a", pk: "q" });
  const { resource: replaced } = await container.item("a", "p").replace({ id: "a", pk: "p", n: 2 });
  assert.deepEqual(body(replaced), { id: "a", pk: "p", n: 2 });
  assert.notEqual(replaced._etag, made._etag);
  assert.equal(replaced._rid, made._rid);
  await container.item("a", "p").delete();
  // This client gives a missing document as an answer, not as an error.
  assert.equal((await container.item("a", "p").read()).statusCode, 404);
  assert.equal(await statusOf(container.item("a", "p").replace({ id: "a", pk: "p" })), 404);
  assert.equal(await statusOf(container.item("a", "p").delete()), 404);
  assert.equal((await container.item("a", "q").read()).resource.pk, "q");
});

check(async function odd_ids_and_keys(world) {
  const container = await world.container();
  const odd = [["a b", "x y"], ["ä+%20", 'quote"d'], ["dot.", 12], ["n", -0.5], ["t", true], ["null", null]];
  for (const [id, pk] of odd) {
    await container.items.create({ id, pk });
    assert.deepEqual(body((await container.item(id, pk).read()).resource), { id, pk });
    await container.item(id, pk).delete();
    assert.equal((await container.item(id, pk).read()).statusCode, 404);
  }
  await container.items.create({ id: "none" });
  assert.deepEqual((await container.items.readAll().fetchAll()).resources.map(name), ["none"]);
});

check(async function upsert(world) {
  const container = await world.container();
  const { resource: made } = await container.items.upsert({ id: "a", pk: "p", n: 1 });
  const { resource: again } = await container.items.upsert({ id: "a", pk: "p", n: 2 });
  assert.equal(made._rid, again._rid);
  assert.equal((await container.item("a", "p").read()).resource.n, 2);
});

check(async function preconditions(world) {
  const container = await world.container();
  const item = container.item("a", "p");
  const { resource: first } = await container.items.create({ id: "a", pk: "p", n: 1 });
  const match = ({ _etag }) => ({ accessCondition: { type: "IfMatch", condition: _etag } });
  const { resource: second } = await item.replace({ id: "a", pk: "p", n: 2 }, match(first));
  assert.equal(await statusOf(item.replace({ id: "a", pk: "p", n: 3 }, match(first))), 412);
  assert.equal(await statusOf(container.items.upsert({ id: "a", pk: "p", n: 3 }, match(first))), 412);
  assert.equal(await statusOf(item.delete(match(first))), 412);
  assert.equal(await statusOf(item.patch([{ op: "incr", path: "/n", value: 1 }], match(first))), 412);
  assert.equal((await item.read()).resource._etag, second._etag);
  const unless = { accessCondition: { type: "IfNoneMatch", condition: second._etag } };
  assert.equal((await item.read(unless)).statusCode, 304);
  await item.delete(match(second));
  assert.equal((await item.read()).statusCode, 404);
});

check(async function patch(world) {
  const container = await world.container();
  const item = container.item("a", "p");
  await container.items.create({ id: "a", pk: "p", n: 1, deep: { list: [1, 3] }, old: 1, gone: 1 });
  const { resource } = await item.patch([
    { op: "add", path: "/deep/list/1", value: 2 },
    { op: "add", path: "/deep/list/-", value: 4 },
    { op: "set", path: "/deep/x", value: { y: null } },
    { op: "replace", path: "/old", value: 2 },
    { op: "remove", path: "/gone" },
    { op: "incr", path: "/n", value: 2.5 },
  ]);
  assert.deepEqual(body(resource), {
    id: "a",
    pk: "p",
    n: 3.5,
    deep: { list: [1, 2, 3, 4], x: { y: null } },
    old: 2,
  });
  const zero = { op: "set", path: "/n", value: 0 };
  assert.equal(await statusOf(item.patch([zero, { op: "replace", path: "/none", value: 1 }])), 400);
  assert.equal((await item.read()).resource.n, 3.5);
  assert.equal(await statusOf(container.item("b", "p").patch([zero])), 404);
  assert.equal(await statusOf(item.patch({ condition: "FROM c WHERE c.n = 99", operations: [zero] })), 412);
  const met = await item.patch({ condition: "FROM c WHERE c.n = 3.5", operations: [zero] });
  assert.equal(met.resource.n, 0);
});

check(async function batch(world) {
  const container = await world.container();
  await container.items.create({ id: "r", pk: "p", n: 1 });
  await container.items.create({ id: "d", pk: "p" });
  const { result } = await container.items.batch(
    [
      { operationType: "Create", resourceBody: { id: "c", pk: "p" } },
      { operationType: "Replace", id: "r", resourceBody: { id: "r", pk: "p", n: 2 } },
      { operationType: "Upsert", resourceBody: { id: "u", pk: "p" } },
      { operationType: "Patch", id: "r", resourceBody: { operations: [{ op: "incr", path: "/n", value: 1 }] } },
      { operationType: "Read", id: "r" },
      { operationType: "Delete", id: "d" },
    ],
    "p",
  );
  assert.deepEqual(result.map(({ statusCode }) => statusCode), [201, 200, 201, 200, 200, 204]);
  assert.equal(result[4].resourceBody.n, 3);
  assert.equal((await container.item("d", "p").read()).statusCode, 404);
});

check(async function batch_rolled_back(world) {
  const container = await world.container();
  await container.items.create({ id: "taken", pk: "p" });
  const create = (id) => ({ operationType: "Create", resourceBody: { id, pk: "p" } });
  const { code, result } = await container.items.batch([create("a"), create("taken"), create("b")], "p");
  assert.equal(code, 207);
  assert.deepEqual(result.map(({ statusCode }) => statusCode), [424, 409, 424]);
  for (const id of ["a", "b"]) {
    assert.equal((await container.item(id, "p").read()).statusCode, 404);
  }
});

check(async function bulk(world) {
  const container = await world.container({ throughput: FOUR_RANGES });
  await container.items.create({ id: "taken", pk: "k1" });
  const create = (id, pk) => ({ operationType: "Create", partitionKey: pk, resourceBody: { id, pk } });
  const operations = Array.from({ length: 60 }, (_, n) => create(`d${n}`, `k${n % 12}`));
  operations.push(create("taken", "k1"));
  const answers = await container.items.executeBulkOperations(operations);
  const statuses = answers.map(({ response, error }) => response?.statusCode ?? error.code);
  // Others go on where one is refused.
  assert.deepEqual(statuses, [...Array(60).fill(201), 409]);
  assert.equal((await container.items.readAll().fetchAll()).resources.length, 61);
});

check(async function hierarchical_keys(world) {
  const container = await world.container({ paths: ["/tenant", "/user"], throughput: FOUR_RANGES });
  for (const tenant of ["t1", "t2"]) {
    for (const user of ["u1", "u2", "u3"]) {
      await container.items.create({ id: "a", tenant, user });
      await container.items.create({ id: "b", tenant, user });
    }
  }
  assert.equal((await container.item("a", ["t1", "u2"]).read()).resource.user, "u2");
  assert.equal((await container.item("a", ["t1", "u9"]).read()).statusCode, 404);
  assert.equal(await statusOf(container.items.create({ id: "a", tenant: "t1", user: "u1" })), 409);
  await container.item("b", ["t2", "u3"]).delete();
  const ofKey = await container.items.query("SELECT * FROM c", { partitionKey: ["t2", "u2"] }).fetchAll();
  assert.deepEqual(ofKey.resources.map(name).sort(), ["a", "b"]);
  const where = "SELECT * FROM c WHERE c.tenant = 't2'";
  assert.equal((await container.items.query(where).fetchAll()).resources.length, 5);
});

check(async function throttled(world) {
  const container = await world.container();
  await world.control("throttle", { requests: 3, retryAfterMs: 30 });
  await container.items.create({ id: "a", pk: "p" });
  await world.control("throttle", { requests: 2, retryAfterMs: 30 });
  assert.equal((await container.item("a", "p").read()).resource.id, "a");
  await world.control("throttle", { requests: 2, retryAfterMs: 30 });
  assert.deepEqual((await container.items.query("SELECT * FROM c").fetchAll()).resources.map(name), ["a"]);
});

check(async function wrong_key_is_refused(world) {
  assert.equal(await statusOf(connect("d3Jvbmc=").database(world.database.id).read()), 401);
});
