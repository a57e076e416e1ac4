import assert from "node:assert/strict";
import test from "node:test";
import { Cache } from "../lib/cache.js";

const load = (key) => new Promise((resolve) => setTimeout(resolve, 20, key.toUpperCase()));

test("gives the loaded value", async () => {
  const cache = new Cache(load);
  await cache.get("a");
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.equal(await cache.get("a"), "A");
});

test("loads once", async () => {
  let n = 0;
  const cache = new Cache(async (key) => {
    n++;
    return key;
  });
  await cache.get("a");
  await new Promise((resolve) => setImmediate(resolve));
  await cache.get("a");
  assert.equal(n, 1);
});
