"use strict";
// Loaded by every node process of the check: in vitest's own, our reporter joins those asked for.
const path = require("node:path");

const COMMANDS = new Set(["run", "watch", "dev", "related"]);

if (/^vitest(\.m?js)?$/.test(path.basename(process.argv[1] || "")) && !process.env.VITEST_WORKER_ID) {
  const given = process.argv.slice(2);
  const word = given.find((argument) => !argument.startsWith("-"));
  const reported = given.some((argument) => /^--reporters?(=|$)/.test(argument));
  if (!["bench", "list", "init", "complete"].includes(word)) {
    const ours = [...(reported ? [] : ["--reporter=default"]), "--reporter=@shim@/@reporter@", "--bail=0"];
    const at = word && COMMANDS.has(word) ? process.argv.indexOf(word) + 1 : 2;
    process.argv.splice(at, 0, ...ours);
  }
}
