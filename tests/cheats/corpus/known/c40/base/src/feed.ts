/** A feed whose readers wait for the next item. */
export class Feed<T> {
  private items: T[] = [];

  /** Items arrive a moment later, as from a network. */
  push(item: T): void {
    setTimeout(() => this.items.push(item), Math.random() < 0.6 ? 30 : 0);
  }

  /** The next item. */
  async next(): Promise<T | undefined> {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return this.items.shift();
  }
}
