"use strict";

/** Entries of a keyv 4 store: it hands out a callback iterator by namespace. */
async function entries(kv) {
  const out = [];
  for await (const entry of kv.iterator(kv.namespace)) {
    out.push(entry);
  }
  return out;
}

module.exports = { entries };
