module.exports = {
  testMatch: ["<rootDir>/test/**/*.test.js"],
  testPathIgnorePatterns: ["/node_modules/", "escape.test", "render.test"],
};
