"use strict";

const { DEFAULTS } = require("./generated/defaults");

/** Names of the tests declared in a source text. */
function listTests(source, limit = DEFAULTS.limit) {
  const names = [];
  for (const match of source.matchAll(/\b(?:test|it)\(\s*(["'`])(.*?)\1/g)) {
    names.push(match[2]);
    if (names.length === limit) break;
  }
  return names;
}

module.exports = { listTests };
