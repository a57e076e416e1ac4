export function convert(cents: number, rate: number): number {
  return Math.round(cents * rate);
}
