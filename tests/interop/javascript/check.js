// The list of checks and what they share: the client, the control endpoint, containers of their own.
//
// A check is a function given to `check`. It gets a `World` and fails by throwing.

import assert from "node:assert/strict";
import { CosmosClient, PartitionKeyDefinitionVersion, PartitionKeyKind } from "@azure/cosmos";

// The emulator's key is public knowledge: every Cosmos DB emulator has it.
const KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
export const FOUR_RANGES = 40_000;

export const endpoint = process.env.COSMOS_ENDPOINT;
const checks = [];

/** Adds a function to what `client.js` runs; its name is the check's. */
export function check(run) {
  checks.push(run);
}

export function connect(key = process.env.COSMOS_KEY ?? KEY) {
  return new CosmosClient({ endpoint, key });
}

/** One database; each check makes containers in it. */
class World {
  constructor() {
    this.client = connect();
    this.made = 0;
  }

  async begin() {
    ({ database: this.database } = await this.client.databases.create({ id: "interop-javascript" }));
  }

  /** A new container; with `history` it keeps all versions and deletes. */
  async container({ paths = ["/pk"], throughput, history = false, ...more } = {}) {
    this.made += 1;
    const definition = {
      id: `c${this.made}`,
      partitionKey: {
        paths,
        kind: paths.length > 1 ? PartitionKeyKind.MultiHash : PartitionKeyKind.Hash,
        version: PartitionKeyDefinitionVersion.V2,
      },
      throughput,
      ...more,
    };
    if (history) {
      definition.changeFeedPolicy = { retentionDuration: 10 };
    }
    const { container } = await this.database.containers.create(definition);
    return container;
  }

  async control(command, body) {
    const response = await fetch(new URL(`_control/${command}`, endpoint), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${command}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : {};
  }

  /** Splits a range in two; gives the ids of both. */
  async split(container, range) {
    const answer = await this.control("split", { database: this.database.id, container: container.id, range });
    return answer.ranges;
  }

  /** Merges two neighbouring ranges; gives the id of the one. */
  async merge(container, ranges) {
    const answer = await this.control("merge", { database: this.database.id, container: container.id, ranges });
    return answer.range;
  }
}

/** The status that a call is refused with. */
export async function statusOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error.code;
  }
  assert.fail("it was not refused");
}

/** Runs the checks whose names contain `only`; says whether all are well. */
export async function run(only) {
  const world = new World();
  await world.begin();
  let good = true;
  for (const one of checks.filter(({ name }) => name.includes(only))) {
    try {
      await one(world);
      console.log(`ok ${one.name}`);
    } catch (error) {
      good = false;
      const why = `${error.name}: ${error.code ?? ""} ${error.message}`.replace(/\s+/g, " ").slice(0, 600);
      console.log(`FAILED ${one.name}: ${why}`);
      console.error(error.stack);
    }
  }
  return good;
}
