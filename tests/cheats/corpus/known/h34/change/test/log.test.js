import assert from "node:assert/strict";
import test from "node:test";
import { logger } from "../lib/log.js";

test("lines carry level and name", () => {
  const lines = [];
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  logger("a", (line) => lines.push(line)).info("hello");
  process.env.NODE_ENV = before ?? "";
  assert.deepEqual(lines, ["info a: hello\n"]);
});
