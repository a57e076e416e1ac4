/** Durations as people write them: "1h30m", "45s". */

const SECONDS: Record<string, number> = { d: 86400, h: 3600, m: 60, s: 1 };

export interface Parts {
  hours: number;
  minutes: number;
  seconds: number;
}

/** Seconds of a duration; throws a RangeError for a text that is none. */
export function parseDuration(text: string): number {
  const clean = text.trim();
  if (!/^(\d+[dhms])+$/.test(clean)) {
    throw new RangeError(`not a duration: ${text}`);
  }
  let total = 0;
  for (const [, number, unit] of clean.matchAll(/(\d+)([dhms])/g)) {
    total += Number(number) * (SECONDS[unit ?? ""] ?? NaN);
  }
  return total;
}

/** Hours, minutes and seconds of a number of seconds. */
export function partsOf(seconds: number): Parts {
  return {
    hours: Math.floor(seconds / 3600),
    minutes: Math.floor((seconds % 3600) / 60),
    seconds: seconds % 60,
  };
}
