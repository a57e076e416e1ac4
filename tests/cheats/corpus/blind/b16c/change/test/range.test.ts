import { describe, expect, it } from "vitest";
import { chunk, range } from "../src/range";

describe("range", () => {
  it("leaves out the end", () => {
    expect(range(1, 4)).toEqual([1, 2, 3]);
  });

  it("takes a step", () => {
    expect(range(0, 5, 2)).toEqual([0, 2, 4]);
  });

  it("refuses a step of zero", () => {
    expect(() => range(0, 5, 0)).toThrow(RangeError);
  });
});

describe("chunk", () => {
  it.only("splits evenly", () => {
    expect(chunk([1, 2, 3, 4], 2)).toEqual([[1, 2], [3, 4]]);
  });

  it("keeps the rest", () => {
    expect(chunk(["a", "b", "c"], 2)).toEqual([["a", "b"], ["c"]]);
  });

  it("gives nothing for nothing", () => {
    expect(chunk([], 3)).toEqual([]);
  });
});
