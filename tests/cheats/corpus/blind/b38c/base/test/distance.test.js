import assert from "node:assert/strict";
import test from "node:test";
import { distance, routeLength } from "../src/distance.js";
import { BERLIN, LIMA, POTSDAM, TOKYO, near } from "./places.js";

test("no distance", () => {
  assert.equal(distance(BERLIN, BERLIN), 0);
});

test("short", () => {
  assert.ok(near(distance(BERLIN, POTSDAM), 27.2, 0.01));
});

test("long", () => {
  assert.ok(near(distance(BERLIN, TOKYO), 8918));
  assert.ok(near(distance(BERLIN, LIMA), 11093));
});

test("symmetric", () => {
  assert.ok(near(distance(BERLIN, TOKYO), distance(TOKYO, BERLIN)));
});

test("routes add up", () => {
  const expected = distance(BERLIN, POTSDAM) * 2;
  assert.ok(near(routeLength([BERLIN, POTSDAM, BERLIN]), expected));
});
