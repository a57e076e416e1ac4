import { parseDuration } from "./duration";

/** Seconds of a duration that a service tells. */
export async function fetchDuration(url: string): Promise<number> {
  const answer = await fetch(url);
  if (!answer.ok) {
    throw new Error(`${url}: status ${answer.status}`);
  }
  return parseDuration(await answer.text());
}
