"use strict";

class EventBus {
  #listeners = new Map();

  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.#listeners.get(name).delete(listener);
  }

  emit(name, ...args) {
    const listeners = this.#listeners.get(name) ?? new Set();
    for (const listener of listeners) listener(...args);
    return listeners.size;
  }
}

module.exports = { EventBus };
