import assert from "node:assert/strict";
import test from "node:test";
import { shares, sum } from "../lib/price.js";

test("sum", () => {
  assert.equal(sum([1, 2, 3]), 6);
  assert.equal(sum([]), 0);
});

test("shares add up", () => {
  assert.equal(sum(shares([1, 2, 1])), 1);
});
