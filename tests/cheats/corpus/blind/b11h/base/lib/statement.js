"use strict";

function money(cents) {
  const sign = cents < 0 ? "-" : "";
  const abs = Math.abs(cents);
  return `${sign}${Math.floor(abs / 100)}.${String(abs % 100).padStart(2, "0")}`;
}

function statement(account) {
  const lines = account.entries.map(
    (e) => `${e.type.padEnd(12)}${money(e.type === "withdrawal" ? -e.amount : e.amount).padStart(12)}`,
  );
  return [`Account of ${account.owner}`, ...lines, `${"balance".padEnd(12)}${money(account.balance).padStart(12)}`].join("\n");
}

module.exports = { money, statement };
