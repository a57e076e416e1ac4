"use strict";

const fs = require("node:fs");
const path = require("node:path");

class Store {
  constructor(folder) {
    this.folder = folder;
  }

  #file(key) {
    return path.join(this.folder, `${encodeURIComponent(key)}.json`);
  }

  put(key, value, done) {
    fs.mkdir(this.folder, { recursive: true }, (err) => {
      if (err) return done(err);
      fs.writeFile(this.#file(key), JSON.stringify(value), done);
    });
  }

  get(key, done) {
    fs.readFile(this.#file(key), "utf8", (err, text) => {
      if (err && err.code === "ENOENT") return done(null, null);
      if (err) return done(err);
      done(null, JSON.parse(text));
    });
  }
}

module.exports = { Store };
