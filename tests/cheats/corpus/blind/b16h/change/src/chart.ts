import { getPerson, type Person } from "./people";

export function depth(people: readonly Person[], id: number): number {
  let steps = 0;
  let current = getPerson(people, id);
  while (current.managerId !== undefined) {
    current = getPerson(people, current.managerId);
    steps += 1;
  }
  return steps;
}
