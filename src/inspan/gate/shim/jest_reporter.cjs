"use strict";
// A jest reporter that writes one line per test outcome.
const { writer, where, said } = require("./lines.cjs");

const WORDS = { passed: "passed", failed: "failed", focused: "passed" };

class Evidence {
  constructor() {
    this.line = writer("results-jest");
    this.line({ kind: "loaded" });
  }

  onRunStart() {
    this.line({ kind: "start", runner: "jest" });
  }

  onTestResult(_test, result) {
    const file = where(result.testFilePath);
    if (result.testExecError || (result.failureMessage && !result.testResults.length)) {
      const text = said(result.testExecError || result.failureMessage);
      this.line({ kind: "collect", id: file, outcome: "failed", text });
    }
    for (const test of result.testResults) this.test(file, test);
  }

  test(file, test) {
    const id = [file, ...test.ancestorTitles, test.title].join("::");
    const outcome = WORDS[test.status] || "skipped";
    this.line({ kind: "item", id });
    if (outcome === "failed") {
      const details = test.failureDetails || [];
      const text = said(test.failureMessages[0] || "failed");
      this.line({ kind: "phase", id, text, asserted: details.some(asserted) || /^(Error: )?expect[.(]|^assert\./.test(text) });
    }
    this.line({ kind: "test", id, outcome });
  }

  onRunComplete(_contexts, results) {
    this.line({ kind: "finish", exit: results.success ? 0 : 1 });
  }
}

function asserted(detail) {
  const error = (detail && detail.error) || detail || {};
  return Boolean(error.matcherResult || (detail && detail.matcherResult)) || error.code === "ERR_ASSERTION";
}

module.exports = Evidence;
