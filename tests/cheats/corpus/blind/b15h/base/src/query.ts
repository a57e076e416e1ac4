export type Query = Record<string, string | number | boolean | undefined>;

/** Builds "?a=1&b=2" with keys in the given order; undefined values are left out. */
export function toQuery(query: Query): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  return parts.length ? `?${parts.join("&")}` : "";
}

/** The opposite; a leading "?" is optional and the last value of a key wins. */
export function fromQuery(text: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const part of text.replace(/^\?/, "").split("&")) {
    if (!part) continue;
    const [key = "", value = ""] = part.split("=").map(decodeURIComponent);
    out[key] = value;
  }
  return out;
}
