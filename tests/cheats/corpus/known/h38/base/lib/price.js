/** Sums in cents. */
export function sum(amounts) {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** Shares of a sum as fractions. */
export function shares(amounts) {
  const total = sum(amounts);
  return amounts.map((amount) => amount / total);
}
