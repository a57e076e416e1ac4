"use strict";
// One keyed line per outcome, appended to a file outside the workspace; shared by the reporters of Node's runners.
const fs = require("node:fs");
const path = require("node:path");
const url = require("node:url");

const KEY = "@key@";
const ROOT = real("@root@");

function real(file) {
  try {
    return fs.realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/** Appends whole lines to the evidence file `name`; nothing is kept in memory that a later crash could take along. */
function writer(name) {
  const fd = fs.openSync("@evidence@/" + name, "a", 0o600);
  return (fields) => fs.writeSync(fd, JSON.stringify({ key: KEY, ...fields }) + "\n");
}

/** A file's path relative to the workspace's root, the first part of a test id. */
function where(file) {
  const plain = String(file).startsWith("file:") ? url.fileURLToPath(file) : String(file);
  return path.relative(ROOT, real(plain)).split(path.sep).join("/");
}

/** What an error says: its first lines that say something, as one. */
function said(error) {
  const text = typeof error === "string" ? error : String((error && (error.message || error.stack)) || error);
  // eslint-disable-next-line no-control-regex
  const plain = text.replace(/\u001b\[[0-9;]*m/g, "");
  const told = plain.split("\n").map((line) => line.trim()).filter((line) => line && !/^(at |\d+ \||> \d+ \|)/.test(line));
  return told.slice(0, 3).join(" ").slice(0, 400);
}

module.exports = { writer, where, said };
