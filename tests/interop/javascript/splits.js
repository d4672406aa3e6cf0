// Splits, two in a row, under readers in both modes, and merges: nothing lost, nothing doubled.

import assert from "node:assert/strict";
import { ChangeFeedMode, ChangeFeedStartFrom } from "@azure/cosmos";
import { check } from "./check.js";
import { drain, fill, names, read } from "./feed.js";
import { HISTORY, name, operations, start } from "./history.js";

const ids = (documents) => documents.map(({ id }) => id);

/** Each of `wanted` exactly once. */
function once(found, wanted) {
  const [have, want] = [new Set(found), new Set(wanted)];
  const lost = wanted.filter((one) => !have.has(one)).slice(0, 5);
  const strange = found.filter((one) => !want.has(one)).slice(0, 5);
  const doubled = found.filter((one, index) => found.indexOf(one) !== index).slice(0, 5);
  assert.deepEqual({ lost, doubled, strange }, { lost: [], doubled: [], strange: [] });
}

check(async function splits_under_a_latest_version_reader(world) {
  const container = await world.container();
  const wanted = names("a", 60);
  await fill(container, wanted);
  const iterator = container.items.getChangeFeedIterator({
    changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
    changeFeedMode: ChangeFeedMode.LatestVersion,
    maxItemCount: 7,
  });
  const { result: begun, continuationToken: before } = await iterator.readNext();
  const live = [...begun];
  const [left] = await world.split(container, "0");
  live.push(...(await iterator.readNext()).result);
  await fill(container, names("b", 30));
  wanted.push(...names("b", 30));
  const { result, continuationToken: between } = await iterator.readNext();
  live.push(...result);
  const untilBetween = [...live];
  await world.split(container, left);
  await fill(container, names("c", 30));
  wanted.push(...names("c", 30));
  const rest = await drain(iterator);
  live.push(...rest.found);
  once(ids(live), wanted);
  assert.equal((await container.getFeedRanges()).length, 3);
  once(ids([...begun, ...(await read(container, before)).found]), wanted);
  once(ids([...untilBetween, ...(await read(container, between)).found]), wanted);
  await fill(container, names("d", 10));
  once(ids((await read(container, rest.position)).found), names("d", 10));
  once(ids((await read(container, ChangeFeedStartFrom.Beginning())).found), [...wanted, ...names("d", 10)]);
});

check(async function splits_under_a_history_reader(world) {
  const container = await world.container({ history: true });
  const position = await start(container);
  const wanted = [];
  const write = async (prefix) => {
    const ids = names(prefix, 30);
    await fill(container, ids);
    const gone = ids.filter((_, n) => n % 3 === 0);
    for (const id of gone) {
      await container.item(id, `k${Number(id.slice(1)) % 10}`).delete();
    }
    wanted.push(...ids.map((id) => `create ${id}`), ...gone.map((id) => `delete ${id}`));
  };
  await write("a");
  const iterator = container.items.getChangeFeedIterator({
    changeFeedStartFrom: ChangeFeedStartFrom.Continuation(position),
    changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
    maxItemCount: 7,
  });
  const { result: begun, continuationToken: before } = await iterator.readNext();
  const live = [...begun];
  const [left] = await world.split(container, "0");
  await write("b");
  const { result, continuationToken: between } = await iterator.readNext();
  live.push(...result);
  const untilBetween = [...live];
  const [, last] = await world.split(container, left);
  await write("c");
  const rest = await drain(iterator);
  live.push(...rest.found);
  once(operations(live), wanted);
  once(operations((await read(container, position, HISTORY)).found), wanted);
  once(operations([...begun, ...(await read(container, before, HISTORY)).found]), wanted);
  once(operations([...untilBetween, ...(await read(container, between, HISTORY)).found]), wanted);
  wanted.length = 0;
  await world.split(container, last);
  await write("d");
  once(operations((await read(container, rest.position, HISTORY)).found), wanted);
});

check(async function split_of_a_range_being_read_by_range_and_key(world) {
  const container = await world.container({ history: true });
  const [whole] = await container.getFeedRanges();
  const byRange = await start(container, whole);
  const byKey = await start(container, "k3");
  await fill(container, names("a", 40));
  const [left, right] = await world.split(container, "0");
  await fill(container, names("b", 40));
  await world.split(container, left);
  await world.split(container, right);
  await fill(container, names("c", 40));
  const everything = ["a", "b", "c"].flatMap((prefix) => names(prefix, 40));
  once((await read(container, byRange, HISTORY)).found.map(name), everything);
  const ofKey = everything.filter((id) => Number(id.slice(1)) % 10 === 3);
  assert.deepEqual((await read(container, byKey, HISTORY)).found.map(name), ofKey);
  const latest = await read(container, ChangeFeedStartFrom.Beginning(whole));
  once(ids(latest.found), everything);
});

check(async function merge_under_a_latest_version_reader(world) {
  const container = await world.container();
  await fill(container, names("a", 20));
  const halves = await world.split(container, "0");
  await fill(container, names("b", 40));
  const wanted = [...names("a", 20), ...names("b", 40)];
  const iterator = container.items.getChangeFeedIterator({
    changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
    changeFeedMode: ChangeFeedMode.LatestVersion,
    maxItemCount: 5,
  });
  const live = [...(await iterator.readNext()).result, ...(await iterator.readNext()).result];
  const { result, continuationToken: before } = await iterator.readNext();
  live.push(...result);
  const begun = [...live];
  await world.merge(container, halves);
  await fill(container, names("c", 30));
  wanted.push(...names("c", 30));
  const rest = await drain(iterator);
  live.push(...rest.found);
  once(ids(live), wanted);
  assert.equal((await container.getFeedRanges()).length, 1);
  once(ids([...begun, ...(await read(container, before)).found]), wanted);
  await fill(container, names("d", 10));
  once(ids((await read(container, rest.position)).found), names("d", 10));
  once(ids((await read(container, ChangeFeedStartFrom.Beginning())).found), [...wanted, ...names("d", 10)]);
});
