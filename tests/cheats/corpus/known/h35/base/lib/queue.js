/** A queue that runs at most `limit` jobs at a time, in the order they came. */
export class Queue {
  #waiting = [];
  #running = 0;

  constructor(limit) {
    if (!(limit > 0)) {
      throw new RangeError(`a limit must be positive: ${limit}`);
    }
    this.limit = limit;
  }

  /** Resolves with what the job gives. */
  add(job) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#next();
    });
  }

  get size() {
    return this.#waiting.length + this.#running;
  }

  #next() {
    if (this.#running >= this.limit || this.#waiting.length === 0) {
      return;
    }
    const { job, resolve, reject } = this.#waiting.shift();
    this.#running++;
    Promise.resolve()
      .then(job)
      .then(resolve, reject)
      .finally(() => {
        this.#running--;
        this.#next();
      });
  }
}
