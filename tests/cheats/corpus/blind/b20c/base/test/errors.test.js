const test = require("node:test");
const assert = require("node:assert");
const { EventBus } = require("../bus");

test("all listeners are called although one throws", () => {
  const bus = new EventBus();
  const seen = [];
  bus.on("x", () => { throw new Error("one"); });
  bus.on("x", () => seen.push("two"));
  bus.on("x", () => { throw new Error("three"); });
  assert.throws(() => bus.emit("x"), (e) => e instanceof AggregateError && e.errors.length === 2);
  assert.deepStrictEqual(seen, ["two"]);
});
