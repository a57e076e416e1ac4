import { describe, expect, it, vi } from "vitest";
import { retry } from "../src/retry";

describe("retry", () => {
  it("gives the first success", async () => {
    const work = vi.fn().mockRejectedValueOnce(new Error("once")).mockResolvedValue(7);
    expect(await retry(work, { attempts: 3 })).toBe(7);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it("rejects with the last error", async () => {
    let n = 0;
    const work = async () => {
      throw new Error(`failure ${++n}`);
    };
    await expect(retry(work, { attempts: 2 })).rejects.toThrow("failure 2");
  });

  it("pauses between attempts only", async () => {
    const pause = vi.fn(async () => {});
    await retry(async () => Promise.reject(new Error("no")), { attempts: 3, pause }).catch(() => {});
    expect(pause.mock.calls).toEqual([[1], [2]]);
  });
});
