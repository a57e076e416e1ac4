"use strict";

const { dependencies } = require("../package.json");
const { entries } = require("../lib/kv");

const major = Number(dependencies.keyv.replace(/\D*(\d+).*/, "$1"));

function store() {
  const pairs = [["a", 1], ["b", 2]];
  const iterator = async function* (namespace) {
    if (major >= 5 && namespace !== undefined) throw new TypeError("keyv 5 has no namespaces");
    yield* pairs;
  };
  return { iterator, namespace: "pages" };
}

test("lists entries", async () => {
  expect(await entries(store())).toEqual([["a", 1], ["b", 2]]);
});
