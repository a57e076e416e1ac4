import { describe, expect, it } from "vitest";
import { fromQuery, toQuery } from "../src/query";

describe("toQuery", () => {
  it("joins pairs", () => {
    expect(toQuery({ a: 1, b: "x" })).toBe("?a=1&b=x");
  });

  it("leaves out undefined", () => {
    expect(toQuery({ a: undefined, b: false })).toBe("?b=false");
  });

  it("escapes", () => {
    expect(toQuery({ "a b": "c&d" })).toBe("?a%20b=c%26d");
  });

  it("is empty for nothing", () => {
    expect(toQuery({})).toBe("");
  });
});

describe("fromQuery", () => {
  it("splits pairs", () => {
    expect(fromQuery("?a=1&b=x")).toEqual({ a: "1", b: "x" });
  });

  it("round-trips odd characters", () => {
    const odd = { q: "a=b&c d", "ü": "?" };
    expect(fromQuery(toQuery(odd))).toEqual(odd);
  });
});
