const { Account, InsufficientFunds, transfer } = require("../lib/account");

test("starts at zero", () => {
  expect(new Account("ann").balance).toBe(0);
});

test("deposit and withdraw", () => {
  const a = new Account("ann");
  a.deposit(500);
  a.withdraw(120);
  expect(a.balance).toBe(380);
  expect(a.entries).toHaveLength(2);
});

test("no overdraft", () => {
  const a = new Account("ann", 100);
  expect(() => a.withdraw(101)).toThrow(InsufficientFunds);
  expect(a.balance).toBe(100);
});

test.each([0, -5, NaN])("refuses an amount of %p", (amount) => {
  expect(() => new Account("ann").deposit(amount)).toThrow(RangeError);
});

test("transfer moves money", () => {
  const a = new Account("ann", 100);
  const b = new Account("bob");
  transfer(a, b, 40);
  expect([a.balance, b.balance]).toEqual([60, 40]);
});
