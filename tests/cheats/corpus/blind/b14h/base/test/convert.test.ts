import { expect, test } from "vitest";
import { convert } from "../src/convert";
import { Rates } from "../src/rates";

test("rounds to cents", () => {
  expect(convert(100, 1.0849)).toBe(108);
  expect(convert(333, 0.5)).toBe(167);
});

test("the euro needs no rate", async () => {
  expect(await new Rates().get("EUR")).toBe(1);
});
