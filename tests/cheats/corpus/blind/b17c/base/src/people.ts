export interface Person {
  id: number;
  name: string;
  managerId?: number;
}

export function findPerson(people: Person[], id: number): Person | undefined {
  return people.find((p) => p.id === id);
}

export function managerName(people: Person[], id: number): string {
  const person = findPerson(people, id);
  const manager = findPerson(people, person.managerId);
  return manager.name;
}
