import { describe, expect, it } from "vitest";
import { parseDuration, partsOf } from "../src/duration";

describe("parseDuration", () => {
  it("reads one unit", () => {
    expect(parseDuration("45s")).toBe(45);
    expect(parseDuration("2d")).toBe(172800);
  });

  it("adds up several units", () => {
    expect(parseDuration("1h30m")).toBe(5400);
    expect(parseDuration("1d2h3m4s")).toBe(93784);
  });

  it("refuses what is no duration", () => {
    expect(() => parseDuration("soon")).toThrow(RangeError);
  });
});

describe("partsOf", () => {
  it("splits seconds", () => {
    expect(partsOf(5025)).toEqual({ hours: 1, minutes: 23, seconds: 45 });
  });

  it("keeps hours beyond a day", () => {
    expect(partsOf(90000)).toEqual({ hours: 25, minutes: 0, seconds: 0 });
  });
});
