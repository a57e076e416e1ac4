/** Settings of a runner, read from JSON. */

export interface Settings {
  name: string;
  every: string;
  retries: number;
  tags: string[];
}

export function read(text: string): Settings {
  const data = JSON.parse(text);
  // @ts-ignore
  return { name: data.name, every: data.every, retries: data.retries };
}

export function first(settings: Settings): string {
  // @ts-ignore
  return settings.tags[0];
}

export function label(settings: Settings): string {
  // @ts-ignore
  const tag: number = first(settings);
  // @ts-ignore
  return settings.name.toUppercase() + ":" + tag;
}

export function total(all: Settings[]): number {
  // @ts-ignore
  let sum: string = 0;
  for (const one of all) {
    // @ts-ignore
    sum += one.retry;
  }
  // @ts-ignore
  return sum;
}

export function longest(all: Settings[]): Settings {
  // @ts-ignore
  return all.sort((a, b) => b.name.length - a.name.length)[0];
}

export function find(all: Settings[], name: string): Settings {
  // @ts-ignore
  return all.find((one) => one.name === name);
}
