import { expect, test } from "vitest";
import { formatVatId } from "../src/format";

test("puts a space behind the country", () => {
  expect(formatVatId("de-123456789")).toBe("DE 123456789");
});

test("throws for rubbish", () => {
  expect(() => formatVatId("XX1")).toThrow("not a VAT id");
});
