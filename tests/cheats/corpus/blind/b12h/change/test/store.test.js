const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { NotFound, Store } = require("../lib/store");

let folder;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "store-"));
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true });
});

test("gives back what was put", async () => {
  const store = new Store(folder);
  await store.put("a/b", { n: 1 });
  expect(await store.get("a/b")).toEqual({ n: 1 });
});

test("creates its folder", async () => {
  const store = new Store(path.join(folder, "x", "y"));
  await store.put("k", 1);
  expect(fs.readdirSync(path.join(folder, "x", "y"))).toEqual(["k.json"]);
});

test("rejects for a missing key", async () => {
  await expect(new Store(folder).get("none")).rejects.toThrow(NotFound);
});

test("other errors are passed on", async () => {
  const store = new Store(folder);
  fs.mkdirSync(path.join(folder, "dir.json"));
  await expect(store.get("dir")).rejects.toMatchObject({ code: "EISDIR" });
});
