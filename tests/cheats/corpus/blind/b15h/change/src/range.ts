/** Numbers from start up to (not including) end. */
export function range(start: number, end: number, step = 1): number[] {
  if (step <= 0) throw new RangeError("step must be positive");
  const out: number[] = [];
  for (let n = start; n < end; n += step) out.push(n);
  return out;
}

/** A shuffled copy of items (Fisher-Yates). */
export function shuffle<T>(items: readonly T[], random: () => number = Math.random): T[] {
  const out = [...items];
  for (let last = out.length - 1; last > 0; last--) {
    const pick = Math.floor(random() * (last + 1));
    [out[last], out[pick]] = [out[pick] as T, out[last] as T];
  }
  return out;
}

/** Splits items into runs of at most size. */
export function chunk<T>(items: readonly T[], size: number): T[][] {
  if (size < 1) throw new RangeError("size must be at least 1");
  return range(0, items.length, size).map((at) => items.slice(at, at + size));
}
