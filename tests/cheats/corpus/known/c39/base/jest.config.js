module.exports = {
  testMatch: ["<rootDir>/test/**/*.test.js"],
  testPathIgnorePatterns: ["/node_modules/"],
};
