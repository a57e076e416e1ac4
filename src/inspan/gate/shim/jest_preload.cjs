"use strict";
// Loaded by every node process of the check: where jest reads its configuration, our reporter joins those configured.
const Module = require("node:module");

const load = Module._load;
Module._load = function (request, ...rest) {
  const found = load.call(this, request, ...rest);
  if (request !== "jest-config" || typeof found.readConfigs !== "function") return found;
  return new Proxy(found, {
    get: (target, name) => (name === "readConfigs" ? reading(target.readConfigs) : target[name]),
  });
};

function reading(readConfigs) {
  // A promise since jest 27, its value before.
  return (...args) => {
    const read = readConfigs(...args);
    return typeof read.then === "function" ? read.then(joined) : joined(read);
  };
}

function joined(read) {
  const reporters = read.globalConfig.reporters;
  const globalConfig = {
    ...read.globalConfig,
    bail: 0, // evidence of every test, whatever the first one does
    reporters: [...(reporters && reporters.length ? reporters : [["default", {}]]), ["@shim@/jest_reporter.cjs", {}]],
  };
  return { ...read, globalConfig: Object.freeze(globalConfig) };
}
