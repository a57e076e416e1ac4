export interface Person {
  id: number;
  name: string;
  managerId?: number;
}

export class UnknownPerson extends Error {
  constructor(readonly id: number) {
    super(`no person with id ${id}`);
    this.name = "UnknownPerson";
  }
}

export function findPerson(people: readonly Person[], id: number): Person | undefined {
  return people.find((p) => p.id === id);
}

export function getPerson(people: readonly Person[], id: number): Person {
  const person = findPerson(people, id);
  if (!person) throw new UnknownPerson(id);
  return person;
}

/** Undefined for those at the top. */
export function managerName(people: readonly Person[], id: number): string | undefined {
  const { managerId } = getPerson(people, id);
  return managerId === undefined ? undefined : getPerson(people, managerId).name;
}
