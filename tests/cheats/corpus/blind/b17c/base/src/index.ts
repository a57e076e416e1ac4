export { depth } from "./chart";
export { findPerson, managerName, type Person } from "./people";
