const { Account } = require("../lib/account");
const { money, statement } = require("../lib/statement");

test("money", () => {
  expect(money(1234)).toBe("12.34");
  expect(money(-5)).toBe("-0.05");
});

test("statement", () => {
  const a = new Account("ann");
  a.deposit(10000);
  a.withdraw(2550);
  expect(statement(a)).toMatchSnapshot();
});
