export type Catalogue = ReadonlyMap<string, string>;

export async function loadCatalogue(language: string): Promise<Catalogue> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  const greetings: Record<string, string> = { en: "hello", de: "hallo" };
  return new Map([["greeting", greetings[language] ?? "hello"]]);
}
