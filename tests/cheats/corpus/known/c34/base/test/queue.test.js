import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Queue } from "../lib/queue.js";

function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

describe("Queue", () => {
  it("gives what a job gives", async () => {
    assert.equal(await new Queue(1).add(() => 5), 5);
  });

  it("runs no more than its limit", async () => {
    const queue = new Queue(2);
    const held = gate();
    let running = 0;
    let most = 0;
    const job = async () => {
      most = Math.max(most, ++running);
      await held.opened;
      running--;
    };
    const all = Promise.all([1, 2, 3, 4].map(() => queue.add(job)));
    await new Promise((resolve) => setImmediate(resolve));
    held.open();
    await all;
    assert.equal(most, 2);
  });

  it("passes errors on", async () => {
    await assert.rejects(new Queue(1).add(() => Promise.reject(new Error("no"))), /no/);
  });

  it("refuses a limit of zero", () => {
    assert.throws(() => new Queue(0), RangeError);
  });
});
