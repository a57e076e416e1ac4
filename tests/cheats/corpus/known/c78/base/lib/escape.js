"use strict";

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as it may stand in HTML, in attributes too. */
function escape(text) {
  return String(text).replace(/[&<>"]/g, (sign) => ENTITIES[sign]);
}

module.exports = { escape };
