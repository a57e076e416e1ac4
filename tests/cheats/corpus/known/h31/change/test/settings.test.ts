import { expect, it } from "vitest";
import { everyOf } from "../src/settings";

it("reads a plug-in's interval", () => {
  expect(everyOf({ settings: () => ({ every: "2h" }) })).toBe(7200);
});
