"use strict";

const { link, menu } = require("../lib/render");

describe("link", () => {
  test("has an address and a label", () => {
    expect(link("/a", "A")).toBe('<a href="/a">A</a>');
  });

  test("quotes in an address do not end it", () => {
    expect(link('/a?q="x"', "A")).toMatchSnapshot();
  });
});

test("a menu lists its links", () => {
  expect(menu([["/", "Home"], ["/tea", "Tea"]])).toMatchSnapshot();
});
