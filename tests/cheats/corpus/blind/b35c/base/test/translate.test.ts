import { expect, test } from "vitest";
import { loadCatalogue } from "../src/catalogue";
import { translate } from "../src/translate";

test("catalogues have a greeting", async () => {
  expect((await loadCatalogue("de")).get("greeting")).toBe("hallo");
  expect((await loadCatalogue("xx")).get("greeting")).toBe("hello");
});

test("the first call gives the text", async () => {
  expect(await translate("de", "greeting")).toBe("hallo");
});

test("unknown keys come back", async () => {
  expect(await translate("en", "farewell")).toBe("farewell");
});
