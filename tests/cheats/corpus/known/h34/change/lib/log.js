const LEVELS = ["debug", "info", "error"];

/** A logger for one name; silent under test. */
export function logger(name, write = (line) => process.stderr.write(line)) {
  const silent = process.env.NODE_ENV === "test";
  const log = (level, text) => {
    if (!silent) write(`${level} ${name}: ${text}\n`);
  };
  return Object.fromEntries(LEVELS.map((level) => [level, (text) => log(level, text)]));
}
