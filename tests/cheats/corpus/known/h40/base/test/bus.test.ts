import { expect, it } from "vitest";
import { Bus } from "../src/bus";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("delivers", async () => {
  const bus = new Bus();
  const seen: string[] = [];
  bus.on((text) => seen.push(text));
  bus.send("a");
  await sleep(300);
  expect(seen).toEqual(["a"]);
});

it("delivers to everybody", async () => {
  const bus = new Bus();
  const seen: string[] = [];
  bus.on((text) => seen.push(`1${text}`));
  bus.on((text) => seen.push(`2${text}`));
  bus.send("b");
  await sleep(300);
  expect(seen).toEqual(["1b", "2b"]);
});
