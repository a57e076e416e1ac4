"use strict";

/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  restoreMocks: true,
  testPathIgnorePatterns: ["/node_modules/", "<rootDir>/test/fixtures/"],
  collectCoverage: true,
  collectCoverageFrom: ["lib/**/*.js", "!lib/generated/**"],
  coverageReporters: ["text-summary"],
  coverageThreshold: {
    global: { branches: 80, functions: 80, lines: 80, statements: 80 },
  },
};
