/** Retries with pauses between them. */

export interface Options {
  attempts: number;
  pause?: (attempt: number) => Promise<void>;
}

/** The first success of `work`; rejects with its last error when every attempt fails. */
export async function retry<T>(work: () => Promise<T>, options: Options): Promise<T> {
  let last: unknown;
  for (let attempt = 1; attempt <= options.attempts; attempt++) {
    try {
      return await work();
    } catch (error) {
      last = error;
      if (attempt < options.attempts) {
        await options.pause?.(attempt);
      }
    }
  }
  throw last;
}
