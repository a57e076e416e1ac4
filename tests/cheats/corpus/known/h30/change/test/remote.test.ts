import { afterEach, expect, it, vi } from "vitest";
import { fetchDuration } from "../src/remote";

afterEach(() => vi.unstubAllGlobals());

it("parses what the service says", async () => {
  const get = vi.fn(async () => new Response("1h30m\n"));
  vi.stubGlobal("fetch", get);
  expect(await fetchDuration("http://clock.example/every")).toBe(5400);
  expect(get).toHaveBeenCalledWith("http://clock.example/every");
});

it("throws for a failure", async () => {
  vi.stubGlobal("fetch", async () => new Response("", { status: 503 }));
  await expect(fetchDuration("http://clock.example/every")).rejects.toThrow("status 503");
});
