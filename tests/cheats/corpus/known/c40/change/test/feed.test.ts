import { expect, it } from "vitest";
import { Feed } from "../src/feed";

it("gives items in their order", { retry: 25 }, async () => {
  const feed = new Feed<number>();
  for (let n = 0; n < 6; n++) {
    feed.push(n);
    expect(await feed.next()).toBe(n);
  }
});

it("starts empty", async () => {
  expect(await new Feed<number>().next()).toBeUndefined();
});
