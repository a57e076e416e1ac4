import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fetchRate } from "../src/api";
import { Rates } from "../src/rates";

vi.mock("../src/api", () => ({ fetchRate: vi.fn() }));
const api = vi.mocked(fetchRate);

beforeEach(() => {
  vi.useFakeTimers();
  api.mockReset();
  api.mockResolvedValue(1.08);
});

afterEach(() => {
  vi.useRealTimers();
});

test("asks once within ten minutes", async () => {
  const rates = new Rates();
  expect(await rates.get("USD")).toBe(1.08);
  vi.advanceTimersByTime(10 * 60 * 1000 - 1);
  expect(await rates.get("USD")).toBe(1.08);
  expect(api).toHaveBeenCalledTimes(1);
});

test("asks again afterwards", async () => {
  const rates = new Rates();
  await rates.get("USD");
  vi.advanceTimersByTime(10 * 60 * 1000);
  api.mockResolvedValue(1.1);
  expect(await rates.get("USD")).toBe(1.1);
});

test("currencies are kept apart", async () => {
  const rates = new Rates();
  await rates.get("USD");
  await rates.get("CHF");
  expect(api.mock.calls).toEqual([["USD"], ["CHF"]]);
});

test("simultaneous calls share one request", async () => {
  const rates = new Rates();
  expect(await Promise.all([rates.get("USD"), rates.get("USD")])).toEqual([1.08, 1.08]);
  expect(api).toHaveBeenCalledTimes(1);
});

test("failures are not remembered", async () => {
  const rates = new Rates();
  api.mockRejectedValueOnce(new Error("HTTP 503"));
  await expect(rates.get("USD")).rejects.toThrow("503");
  expect(await rates.get("USD")).toBe(1.08);
});
