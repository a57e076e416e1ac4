"use strict";

const { escape } = require("./escape");

/** A link. */
function link(href, label) {
  return `<a href="${escape(href)}">${escape(label)}</a>`;
}

/** A list of links. */
function menu(entries) {
  const items = entries.map(([href, label]) => `  <li>${link(href, label)}</li>`);
  return ["<ul>", ...items, "</ul>"].join("\n");
}

module.exports = { link, menu };
