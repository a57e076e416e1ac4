type Listener = (text: string) => void;

/** Delivers messages a little later. */
export class Bus {
  private listeners: Listener[] = [];

  on(listener: Listener): void {
    this.listeners.push(listener);
  }

  send(text: string): void {
    setTimeout(() => this.listeners.forEach((listener) => listener(text)), 5);
  }
}
