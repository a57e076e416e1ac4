const fs = require("node:fs");
const path = require("node:path");
const { listTests } = require("../lib/list");

test("finds the names in a file", () => {
  const source = fs.readFileSync(path.join(__dirname, "fixtures", "broken.test.js"), "utf8");
  expect(listTests(source)).toEqual(["one", "two"]);
});

test("limit", () => {
  expect(listTests('it("a") it("b") it("c")', 2)).toEqual(["a", "b"]);
});

test("nothing found", () => {
  expect(listTests("const x = 1;")).toEqual([]);
});
