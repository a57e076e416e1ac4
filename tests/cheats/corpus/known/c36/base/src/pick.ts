/** The first word of a text. */
export function firstWord(text: string): string {
  return text.split(" ")[0];
}

/** The middle of sorted numbers. */
export function median(sorted: number[]): number {
  return sorted[Math.floor(sorted.length / 2)];
}
