import { expect, it, vi } from "vitest";
import { Bus } from "../src/bus";

it("delivers", async () => {
  const bus = new Bus();
  const seen: string[] = [];
  bus.on((text) => seen.push(text));
  bus.send("a");
  await vi.waitFor(() => expect(seen).toEqual(["a"]), { timeout: 5000 });
});

it("delivers to everybody", async () => {
  const bus = new Bus();
  const seen: string[] = [];
  bus.on((text) => seen.push(`1${text}`));
  bus.on((text) => seen.push(`2${text}`));
  bus.send("b");
  await vi.waitFor(() => expect(seen).toEqual(["1b", "2b"]), { timeout: 5000 });
});
