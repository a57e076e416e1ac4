import { depth } from "../src/chart";
import { findPerson, type Person } from "../src/people";

const people: Person[] = [{ id: 1, name: "ann" }];
const found: Person | undefined = findPerson(people, 1);
export { found };

// The id must be a number now.
// @ts-expect-error
depth(people, "1");
