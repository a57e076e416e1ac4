/** How often each word occurs. */
export function count(text) {
  var out = {};
  for (const word of text.split(/\s+/)) {
    out[word] = (out[word] == null ? 0 : out[word]) + 1;
  }
  return out;
}
