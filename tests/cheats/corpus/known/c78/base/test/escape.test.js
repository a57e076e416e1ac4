"use strict";

const { escape } = require("../lib/escape");

test("leaves plain text alone", () => {
  expect(escape("tea & cake".replace("&", "and"))).toBe("tea and cake");
});

test("escapes tags", () => {
  expect(escape("<b>&</b>")).toBe("&lt;b&gt;&amp;&lt;/b&gt;");
});

test("escapes quotes for attributes", () => {
  expect(escape('"x"')).toBe("&quot;x&quot;");
});

test("takes numbers", () => {
  expect(escape(7)).toBe("7");
});
