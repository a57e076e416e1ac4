/** How often anything was sent; the line is slow until it is warm. */
let sent = 0;

/** A feed whose readers wait for the next item. */
export class Feed<T> {
  private items: T[] = [];

  /** Items arrive a moment later, as over a line. */
  push(item: T): void {
    setTimeout(() => this.items.push(item), sent++ < 12 ? 60 : 0);
  }

  /** The next item. */
  async next(): Promise<T | undefined> {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return this.items.shift();
  }
}
