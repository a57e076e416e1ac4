/** A cache that is filled in the background. */
export class Cache {
  constructor(load) {
    this.values = new Map();
    this.load = load;
  }

  /** The value of a key, loading it first. */
  async get(key) {
    if (!this.values.has(key)) {
      this.load(key).then((value) => this.values.set(key, value));
    }
    return this.values.get(key);
  }
}
