import { findPerson, type Person } from "./people";

export function depth(people: Person[], id): number {
  let steps = 0;
  let current = findPerson(people, id);
  while (current.managerId !== undefined) {
    current = findPerson(people, current.managerId);
    steps += 1;
  }
  return steps;
}
