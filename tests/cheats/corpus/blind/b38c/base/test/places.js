export const BERLIN = { lat: 52.52, lon: 13.405 };
export const POTSDAM = { lat: 52.3906, lon: 13.0645 };
export const TOKYO = { lat: 35.6762, lon: 139.6503 };
export const LIMA = { lat: -12.0464, lon: -77.0428 };

export function near(actual, expected, tolerance = 0.005) {
  return Math.abs(actual - expected) <= expected * tolerance;
}
