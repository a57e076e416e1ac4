#!/usr/bin/env node
import { Queue } from "../lib/queue.js";

const [limit, number] = process.argv.slice(2).map(Number);
if (!(limit > 0) || !(number >= 0)) {
  console.error("usage: jobs LIMIT N");
  process.exit(2);
}
const queue = new Queue(limit);
await Promise.all(Array.from({ length: number }, () => queue.add(() => {})));
console.log(`done ${number}`);
process.exit(0);
