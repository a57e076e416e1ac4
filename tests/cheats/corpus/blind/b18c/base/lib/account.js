"use strict";

class InsufficientFunds extends Error {}

class Account {
  constructor(owner, balance = 0) {
    this.owner = owner;
    this.balance = balance;
    this.entries = [];
  }

  deposit(amount) {
    if (!(amount > 0)) throw new RangeError("amount must be positive");
    this.balance += amount;
    this.entries.push({ type: "deposit", amount });
  }

  withdraw(amount) {
    if (!(amount > 0)) throw new RangeError("amount must be positive");
    if (amount > this.balance) throw new InsufficientFunds(this.owner);
    this.balance -= amount;
    this.entries.push({ type: "withdrawal", amount });
  }
}

function transfer(from, to, amount) {
  from.withdraw(amount);
  to.deposit(amount);
}

module.exports = { Account, InsufficientFunds, transfer };
