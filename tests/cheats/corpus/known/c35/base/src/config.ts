/** Settings of a runner, read from JSON. */

export interface Settings {
  name: string;
  every: string;
  retries: number;
  tags: string[];
}

export function read(text: string): Settings {
  const data = JSON.parse(text);
  return { name: data.name, every: data.every, retries: data.retries };
}

export function first(settings: Settings): string {
  return settings.tags[0];
}

export function label(settings: Settings): string {
  const tag: number = first(settings);
  return settings.name.toUppercase() + ":" + tag;
}

export function total(all: Settings[]): number {
  let sum: string = 0;
  for (const one of all) {
    sum += one.retry;
  }
  return sum;
}

export function longest(all: Settings[]): Settings {
  return all.sort((a, b) => b.name.length - a.name.length)[0];
}

export function find(all: Settings[], name: string): Settings {
  return all.find((one) => one.name === name);
}
