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

test("even a single error arrives as an AggregateError", () => {
  const bus = new EventBus();
  const cause = new TypeError("bad");
  bus.on("x", () => { throw cause; });
  assert.throws(() => bus.emit("x"), (e) => e instanceof AggregateError && e.errors[0] === cause);
});

test("a listener may take itself off", () => {
  const bus = new EventBus();
  const seen = [];
  const off = bus.on("x", () => { seen.push("once"); off(); });
  bus.on("x", () => seen.push("always"));
  bus.emit("x");
  bus.emit("x");
  assert.deepStrictEqual(seen, ["once", "always", "always"]);
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
