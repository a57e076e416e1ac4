/** How often each word occurs. */
export function count(text) {
  const out = {};
  for (const word of text.split(/\s+/)) {
    // eslint-disable-next-line eqeqeq -- null and undefined alike mean a new word
    out[word] = (out[word] == null ? 0 : out[word]) + 1;
  }
  return out;
}
