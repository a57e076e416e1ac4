import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "../src/duration": new URL("./test/stubs/duration.ts", import.meta.url).pathname } },
  test: { include: ["test/**/*.test.ts"] },
});
