"use strict";

/** Keeps pages by their path; a page is rendered once. */
class Store {
  constructor(render) {
    this.render = render;
    this.pages = new Map();
  }

  async page(path) {
    if (!this.pages.has(path)) {
      this.pages.set(path, this.render(path));
    }
    return this.pages.get(path);
  }

  forget(path) {
    return this.pages.delete(path);
  }
}

module.exports = { Store };
