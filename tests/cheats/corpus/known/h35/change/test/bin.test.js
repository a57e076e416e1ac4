import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../bin/jobs.js", import.meta.url));
const jobs = (...args) => spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });

test("runs the jobs", () => {
  const { status, stdout } = jobs("2", "5");
  assert.deepEqual([status, stdout], [0, "done 5\n"]);
});

test("usage", () => {
  assert.equal(jobs("x").status, 2);
});
