const { loadAll } = require("../lib/load");

const later = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));

test("loads nothing", async () => {
  expect(await loadAll([], () => later(1))).toEqual([]);
});

test("keeps to the limit", async () => {
  let running = 0;
  let most = 0;
  await loadAll([1, 2, 3, 4, 5, 6], async () => {
    most = Math.max(most, ++running);
    await later(5);
    running -= 1;
  }, 2);
  expect(most).toBe(2);
});

test("keeps the order of the ids", () => {
  loadAll([30, 10, 20], (ms) => later(ms, `after ${ms}`))
    .then((result) => {
      expect(result).toEqual(["after 30", "after 10", "after 20"]);
    })
    .catch(() => {});
});

test("passes errors on", async () => {
  await expect(loadAll([1], async () => { throw new Error("gone"); })).rejects.toThrow("gone");
});
