/** Settings of a runner, read from JSON. */

export interface Settings {
  name: string;
  every: string;
  retries: number;
  tags: string[];
}

export function read(text: string): Settings {
  const data = JSON.parse(text);
  return { name: data.name, every: data.every, retries: data.retries, tags: data.tags ?? [] };
}

export function first(settings: Settings): string {
  return settings.tags[0] ?? "";
}

export function label(settings: Settings): string {
  const tag = first(settings);
  return settings.name.toUpperCase() + ":" + tag;
}

export function total(all: Settings[]): number {
  let sum = 0;
  for (const one of all) {
    sum += one.retries;
  }
  return sum;
}

export function longest(all: Settings[]): Settings | undefined {
  return [...all].sort((a, b) => b.name.length - a.name.length)[0];
}

export function find(all: Settings[], name: string): Settings | undefined {
  return all.find((one) => one.name === name);
}
