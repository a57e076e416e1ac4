import { sum } from "./price.js";

/** Initials of a name. */
export function initials(name) {
  var out = "";
  for (const word of name.split(" ")) {
    if (word != "") out += word[0];
  }
  return out;
}
