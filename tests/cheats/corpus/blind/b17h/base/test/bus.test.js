const test = require("node:test");
const assert = require("node:assert");
const { EventBus } = require("../bus");

test("listeners get the arguments", () => {
  const bus = new EventBus();
  const seen = [];
  bus.on("x", (...args) => seen.push(args));
  assert.strictEqual(bus.emit("x", 1, 2), 1);
  assert.deepStrictEqual(seen, [[1, 2]]);
});

test("no listeners", () => {
  assert.strictEqual(new EventBus().emit("x"), 0);
});

test("can be taken off", () => {
  const bus = new EventBus();
  const off = bus.on("x", () => assert.fail("called"));
  off();
  bus.emit("x");
});

test("all listeners are called although one throws", () => {
  const bus = new EventBus();
  const seen = [];
  bus.on("x", () => { throw new Error("one"); });
  bus.on("x", () => seen.push("two"));
  bus.on("x", () => { throw new Error("three"); });
  assert.throws(() => bus.emit("x"), (e) => e instanceof AggregateError && e.errors.length === 2);
  assert.deepStrictEqual(seen, ["two"]);
});
