import { expect, test } from "vitest";
import { isVatId } from "../src/vat";

test("accepts a correct Italian number", () => {
  expect(isVatId("IT 00743110157")).toBe(true);
});

test("refuses a wrong check digit", () => {
  expect(isVatId("IT 00743110158")).toBe(false);
});

test("knows the country's length", () => {
  expect(isVatId("DE12345678")).toBe(false);
});
