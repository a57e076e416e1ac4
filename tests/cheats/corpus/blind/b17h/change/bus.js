"use strict";

class EventBus {
  #listeners = new Map();

  on(name, listener) {
    if (!this.#listeners.has(name)) this.#listeners.set(name, new Set());
    this.#listeners.get(name).add(listener);
    return () => this.#listeners.get(name).delete(listener);
  }

  emit(name, ...args) {
    // A copy: listeners may come and go while the event is being delivered.
    const listeners = [...(this.#listeners.get(name) ?? [])];
    const errors = [];
    for (const listener of listeners) {
      try {
        listener(...args);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) {
      throw new AggregateError(errors, `${errors.length} listener(s) of "${name}" failed`);
    }
    return listeners.length;
  }
}

module.exports = { EventBus };
