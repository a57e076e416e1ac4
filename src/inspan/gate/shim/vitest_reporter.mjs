// A vitest reporter that writes one line per test outcome. It reads the task tree, which all versions have.
import lines from "../../lines.cjs";

const { writer, where, said } = lines;

export default class Evidence {
  constructor() {
    this.line = writer("results-vitest");
    this.done = new Set();
    this.line({ kind: "loaded" });
  }

  onInit() {
    this.line({ kind: "start", runner: "vitest" });
  }

  // vitest 3 and later
  onTestModuleEnd(module) {
    this.file(module.task);
  }

  onTestRunEnd(modules) {
    this.finish(modules.map((module) => module.task));
  }

  // vitest 2 and earlier, and 3 beside the above
  onFinished(files) {
    this.finish(files);
  }

  finish(files) {
    for (const file of files) this.file(file);
    if (!this.ended) this.line({ kind: "finish", exit: files.some((file) => file.result?.state === "fail") ? 1 : 0 });
    this.ended = true;
  }

  file(file) {
    if (this.done.has(file.id)) return;
    this.done.add(file.id);
    const place = where(file.filepath);
    const errors = file.result?.errors || [];
    if (errors.length) this.line({ kind: "collect", id: place, outcome: "failed", text: said(errors[0]) });
    for (const task of file.tasks) this.task(place, task);
  }

  task(above, task) {
    const id = `${above}::${task.name}`;
    if (task.type === "suite") {
      for (const inner of task.tasks) this.task(id, inner);
      return;
    }
    this.line({ kind: "item", id });
    const state = task.result?.state;
    const outcome = state === "pass" ? "passed" : state === "fail" ? "failed" : "skipped";
    if (outcome === "failed") {
      const error = task.result.errors?.[0] || {};
      const text = said(error.message || error);
      const asserted = /Assertion/.test(error.name || "") || /^Snapshot `|^expected .*assertion/.test(text);
      this.line({ kind: "phase", id, text: asserted ? text : `${error.name || "Error"}: ${text}`, asserted });
    }
    // A test that was running when its file ended has no state: it came to no outcome.
    if (state || task.mode === "skip" || task.mode === "todo") this.line({ kind: "test", id, outcome });
  }
}
