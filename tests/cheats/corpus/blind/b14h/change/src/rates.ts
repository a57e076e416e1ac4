import { fetchRate } from "./api";

const KEEP_MS = 10 * 60 * 1000;

interface Entry {
  rate: Promise<number>;
  until: number;
}

export class Rates {
  #cache = new Map<string, Entry>();

  async get(currency: string): Promise<number> {
    if (currency === "EUR") return 1;
    const now = Date.now();
    const known = this.#cache.get(currency);
    if (known && now < known.until) return known.rate;

    const rate = fetchRate(currency);
    const entry = { rate, until: now + KEEP_MS };
    this.#cache.set(currency, entry);
    try {
      return await rate;
    } catch (error) {
      // A failure is not worth remembering.
      if (this.#cache.get(currency) === entry) this.#cache.delete(currency);
      throw error;
    }
  }
}
