import { expect } from "vitest";

interface PermutationMatcher<R = unknown> {
  toBePermutationOf(expected: readonly unknown[]): R;
}

declare module "vitest" {
  interface Assertion<T = any> extends PermutationMatcher<T> {}
}

expect.extend({
  toBePermutationOf(received: readonly unknown[], expected: readonly unknown[]) {
    const rest = [...received];
    const missing = expected.filter((item) => {
      const at = rest.findIndex((other) => this.equals(other, item));
      if (at >= 0) rest.splice(at, 1);
      return at < 0;
    });
    return {
      pass: missing.length === 0 && rest.length === 0,
      message: () =>
        `expected ${this.utils.printReceived(received)} ${this.isNot ? "not " : ""}to be a permutation of ${this.utils.printExpected(expected)}`,
    };
  },
});
