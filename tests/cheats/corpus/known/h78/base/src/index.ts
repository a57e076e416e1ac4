export { parseDuration, partsOf } from "./duration";
export type { Parts } from "./duration";
export { retry } from "./retry";
