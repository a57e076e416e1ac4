import { parseDuration } from "./duration";

export interface Settings {
  every: string;
}

/** What a plug-in hands over; its own types say nothing. */
export type Plugin = { settings(): unknown };

/** Seconds between two runs of a plug-in. */
export function everyOf(plugin: Plugin): number {
  // The plug-in interface promises this shape in its documentation, not in its types.
  const settings = plugin.settings() as unknown as Settings;
  return parseDuration(settings.every);
}
