import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { debounce } from "../src/debounce";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("calls once, after the last call", () => {
  const f = vi.fn();
  const late = debounce(f, 100);
  late(1);
  vi.advanceTimersByTime(99);
  late(2);
  vi.advanceTimersByTime(99);
  expect(f).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(f.mock.calls).toEqual([[2]]);
});
