import { describe, expect, it } from "vitest";
import { parseDuration, partsOf } from "../src/duration";

describe("parseDuration", () => {
  it.each([
    ["45s", 45],
    ["2d", 172800],
    ["1h30m", 5400],
    ["1d2h3m4s", 93784],
  ])("reads %s", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
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
