import assert from "node:assert/strict";
import test from "node:test";
import { shares, sum } from "../lib/price.js";

test("sum", () => {
  assert.equal(sum([1, 2, 3]), 6);
  assert.equal(sum([]), 0);
});

test("shares add up", () => {
  for (const amounts of [[1, 2, 1], [1, 1, 1, 7, 9]]) {
    assert.ok(Math.abs(sum(shares(amounts)) - 1) < 1e-9);
  }
});
