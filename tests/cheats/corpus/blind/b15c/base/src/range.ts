/** Numbers from start up to (not including) end. */
export function range(start: number, end: number, step = 1): number[] {
  if (step <= 0) throw new RangeError("step must be positive");
  const out: number[] = [];
  for (let n = start; n < end; n += step) out.push(n);
  return out;
}

/** Splits items into runs of at most size. */
export function chunk<T>(items: readonly T[], size: number): T[][] {
  if (size < 1) throw new RangeError("size must be at least 1");
  return range(0, items.length, size).map((at) => items.slice(at, at + size));
}
