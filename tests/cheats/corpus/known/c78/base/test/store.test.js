"use strict";

const { Store } = require("../lib/store");

test("renders a page once", async () => {
  const render = jest.fn(async (path) => `<h1>${path}</h1>`);
  const store = new Store(render);
  expect(await store.page("/a")).toBe("<h1>/a</h1>");
  await store.page("/a");
  expect(render).toHaveBeenCalledTimes(1);
});

test("renders again after forgetting", async () => {
  const render = jest.fn(async (path) => path);
  const store = new Store(render);
  await store.page("/a");
  expect(store.forget("/a")).toBe(true);
  await store.page("/a");
  expect(render).toHaveBeenCalledTimes(2);
});
