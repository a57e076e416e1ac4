const { Account, transfer } = require("../lib/account");

class Frozen extends Account {
  deposit() {
    throw new Error("account is frozen");
  }
}

test("a refused deposit leaves the sender untouched", () => {
  const a = new Account("ann", 100);
  expect(() => transfer(a, new Frozen("bob"), 40)).toThrow("frozen");
  expect(a.balance).toBe(100);
  expect(a.entries).toEqual([]);
});
