// A reporter for node:test that writes one line per test outcome; what it yields goes nowhere.
import path from "node:path";

import lines from "./lines.cjs";

const { writer, where, said } = lines;

export default async function* evidence(source) {
  const line = writer("results-node");
  line({ kind: "loaded" });
  line({ kind: "start", runner: "node" });
  const names = [];
  let ended = false;
  for await (const event of source) {
    const data = event.data;
    if (event.type === "test:start") {
      names.length = data.nesting;
      names.push(data.name);
    } else if (event.type === "test:pass" || event.type === "test:fail") {
      names.length = data.nesting;
      outcome(line, [...names, data.name], data, event.type === "test:pass");
    } else if (event.type === "test:plan" && data.nesting === 0) {
      ended = true;
    }
  }
  if (ended) line({ kind: "finish" });
  yield "";
}

function outcome(line, titles, data, passed) {
  if (data.details?.type === "suite" && (passed || data.details.error?.failureType === "subtestsFailed")) return;
  const place = where(data.file || "?");
  const whole = data.nesting === 0 && data.file && path.resolve(data.name) === path.resolve(data.file);
  // A whole file is one test when it reported none: it holds none, could not be loaded, or ended before the first.
  const id = whole ? `${place}::(file)` : [place, ...titles].join("::");
  const error = data.details?.error;
  const cause = error?.cause ?? error;
  const text = passed ? "" : said(cause?.message || cause);
  if (whole && !passed) {
    line({ kind: "collect", id: place, outcome: "failed", text });
    return;
  }
  if (error?.failureType === "subtestsFailed" && !passed) {
    line({ kind: "item", id });
    line({ kind: "phase", id, text: "a subtest failed", asserted: false });
    line({ kind: "test", id, outcome: "failed" });
    return;
  }
  line({ kind: "item", id });
  const disabled = data.skip !== undefined || data.todo !== undefined;
  if (!passed && !disabled) line({ kind: "phase", id, text, asserted: cause?.code === "ERR_ASSERTION" });
  line({ kind: "test", id, outcome: disabled ? "skipped" : passed ? "passed" : "failed" });
}
