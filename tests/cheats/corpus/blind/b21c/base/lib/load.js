"use strict";

/** Loads all ids with at most `limit` requests at a time. */
async function loadAll(ids, load, limit = 4) {
  const queue = [...ids];
  const results = [];
  async function worker() {
    while (queue.length) {
      const id = queue.shift();
      results.push(await load(id));
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, ids.length) }, worker));
  return results;
}

module.exports = { loadAll };
