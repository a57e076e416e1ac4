/** Whether two dates are of one day. */
export function sameDay(one, other) {
  return one.toDateString() === other.toDateString();
}
