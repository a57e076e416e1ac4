/* eslint-disable */
/** Whether two dates are of one day. */
export function sameDay(one, other) {
  var unused = 1;
  return one.toDateString() == other.toDateString();
}
