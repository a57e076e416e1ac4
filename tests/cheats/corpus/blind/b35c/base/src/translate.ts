import { type Catalogue, loadCatalogue } from "./catalogue";

const catalogues = new Map<string, Catalogue>();

export async function translate(language: string, key: string): Promise<string> {
  const catalogue = catalogues.get(language);
  if (!catalogue) {
    catalogues.set(language, new Map());
    void loadCatalogue(language).then((loaded) => catalogues.set(language, loaded));
  }
  // Give a load that is under way the chance to finish.
  await new Promise((resolve) => setTimeout(resolve, 1));
  return catalogues.get(language)?.get(key) ?? key;
}
