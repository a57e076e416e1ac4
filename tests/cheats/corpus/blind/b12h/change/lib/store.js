"use strict";

const fs = require("node:fs/promises");
const path = require("node:path");

class NotFound extends Error {
  constructor(key) {
    super(`nothing stored for ${key}`);
    this.name = "NotFound";
    this.key = key;
  }
}

class Store {
  constructor(folder) {
    this.folder = folder;
  }

  #file(key) {
    return path.join(this.folder, `${encodeURIComponent(key)}.json`);
  }

  async put(key, value) {
    await fs.mkdir(this.folder, { recursive: true });
    await fs.writeFile(this.#file(key), JSON.stringify(value));
  }

  async get(key) {
    let text;
    try {
      text = await fs.readFile(this.#file(key), "utf8");
    } catch (err) {
      if (err.code === "ENOENT") throw new NotFound(key);
      throw err;
    }
    return JSON.parse(text);
  }
}

module.exports = { NotFound, Store };
