import { describe, expect, it } from "vitest";
import { range, shuffle } from "../src/range";

describe("shuffle", () => {
  it("keeps the items", () => {
    const items = [3, 1, 3, 2, 9];
    for (let n = 0; n < 50; n++) expect(shuffle(items)).toBePermutationOf(items);
  });

  it("does not touch its argument", () => {
    const items = Object.freeze(range(0, 10));
    shuffle(items);
    expect(items).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it("follows the random source", () => {
    expect(shuffle(["a", "b", "c"], () => 0)).toEqual(["b", "c", "a"]);
    expect(shuffle(["a", "b", "c"], () => 0.999)).toEqual(["a", "b", "c"]);
  });

  it("copes with short lists", () => {
    expect(shuffle([])).toEqual([]);
    expect(shuffle([1])).toEqual([1]);
  });
});

describe("toBePermutationOf", () => {
  it("counts", () => {
    expect([1, 1, 2]).not.toBePermutationOf([1, 2, 2]);
    expect([1]).not.toBePermutationOf([1, 1]);
  });
});
