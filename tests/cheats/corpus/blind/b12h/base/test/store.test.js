const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { Store } = require("../lib/store");

let folder;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "store-"));
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true });
});

test("gives back what was put", (done) => {
  const store = new Store(folder);
  store.put("a/b", { n: 1 }, (err) => {
    expect(err).toBeFalsy();
    store.get("a/b", (err2, value) => {
      expect(err2).toBeNull();
      expect(value).toEqual({ n: 1 });
      done();
    });
  });
});

test("creates its folder", (done) => {
  const store = new Store(path.join(folder, "x", "y"));
  store.put("k", 1, (err) => {
    expect(err).toBeFalsy();
    expect(fs.readdirSync(path.join(folder, "x", "y"))).toEqual(["k.json"]);
    done();
  });
});

test("null for a missing key", (done) => {
  new Store(folder).get("none", (err, value) => {
    expect(err).toBeNull();
    expect(value).toBeNull();
    done();
  });
});
