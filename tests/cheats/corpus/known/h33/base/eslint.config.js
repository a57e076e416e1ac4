export default [
  {
    files: ["lib/**/*.js"],
    rules: { "no-unused-vars": "error", eqeqeq: "error", "no-var": "error" },
  },
];
