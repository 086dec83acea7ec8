/**
 * Runs compiled examples, one after the other, each on an empty store of its own in this process: `node run-examples.js <folder>`. Prints
 * a line for each one that failed: its file and why, as JSON.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { open } from "cinnabar";

const [folder] = process.argv.slice(2);

/** A value as an author would write it. */
function shown(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (Buffer.isBuffer(value)) return `Buffer ${JSON.stringify(value.toString("latin1"))}`;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return `Map {${inside([...value].map(([key, of]) => `${shown(key)} → ${shown(of)}`))}}`;
  if (value instanceof Set) return `Set {${inside([...value].map(shown))}}`;
  if (typeof value !== "object" || value === null) return inspect(value);
  const prototype = Object.getPrototypeOf(value);
  const name = prototype === null || prototype === Object.prototype ? "" : `${prototype.constructor.name} `;
  const fields = Object.entries(value).filter(([, of]) => of !== undefined);
  return `${name}{${inside(fields.map(([key, of]) => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}: ${shown(of)}`))}}`;
}

const inside = (list) => (list.length === 0 ? "" : ` ${list.join(", ")} `);

/** Whether a text is as told; `…` stands for anything. */
function isAsTold(text, told) {
  const pattern = told.split("…").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pattern.join("[^]*")}$`).test(text);
}

async function failureOf(file) {
  const db = await open();
  const told = [];
  const is = (value, text) => {
    if (!isAsTold(shown(value), text)) told.push(`is ${shown(value)}, not ${text}`);
  };
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("not done after 20 s")), 20_000);
  });
  try {
    const { example } = await import(pathToFileURL(join(folder, file)).href);
    await Promise.race([example(db, is), late]);
    return told.length > 0 ? told.join("; ") : undefined;
  } catch (error) {
    return String(error?.stack ?? error);
  } finally {
    clearTimeout(timer);
    await db.close();
  }
}

const files = readdirSync(folder).filter((name) => /^\d+\.js$/.test(name));
let current = "";
const report = (why) => process.stdout.write(`${JSON.stringify({ file: current, why })}\n`);
process.on("unhandledRejection", (error) => report(`unhandled: ${error?.stack ?? error}`));
console.log = () => {};
for (const file of files) {
  current = file;
  const began = performance.now();
  const why = await failureOf(file);
  if (why !== undefined) report(why);
  if (process.env.TIMES === "1") process.stderr.write(`${file} ${Math.round(performance.now() - began)} ms\n`);
}
process.exit(0);
