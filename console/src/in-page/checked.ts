/**
 * What a route was sent, held against its schema, as Fastify does it with Ajv: what an address writes as text becomes numbers, what
 * is left out gets its default, what nobody asked for is left out, and the first thing that is wrong is told in Ajv's words. It knows
 * the keywords that schema.ts writes. in-page.test.ts compares the two.
 */
import { Problem } from "../route.ts";
import type { Schema } from "../schema.ts";
import { isObject } from "../values.ts";

/** Where the value stands: `body/selection/keys`. */
type Check = (schema: Schema, value: unknown, at: string) => unknown;

function wrong(at: string, what: string): never {
  throw new Problem(400, "INPUT", `${at} must ${what}`);
}

const plural = (count: number, what: string): string => `${count} ${what}`;

function text(schema: Schema, value: unknown, at: string): string {
  const found = typeof value === "number" || typeof value === "boolean" ? String(value) : (value ?? "");
  if (typeof found !== "string") return wrong(at, "be string");
  const { minLength, maxLength, pattern, enum: allowed } = schema;
  const { length } = [...found];
  if (typeof maxLength === "number" && length > maxLength)
    wrong(at, `NOT have more than ${plural(maxLength, "characters")}`);
  if (typeof minLength === "number" && length < minLength)
    wrong(at, `NOT have fewer than ${plural(minLength, "characters")}`);
  if (typeof pattern === "string" && !new RegExp(pattern, "u").test(found)) wrong(at, `match pattern "${pattern}"`);
  if (Array.isArray(allowed) && !allowed.includes(found)) wrong(at, "be equal to one of the allowed values");
  return found;
}

function amount(schema: Schema, value: unknown, at: string): number {
  const found = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  const isRight = typeof found === "number" && Number.isFinite(found);
  if (!isRight || (schema.type === "integer" && !Number.isInteger(found))) return wrong(at, `be ${schema.type}`);
  const { minimum, maximum } = schema;
  if (typeof maximum === "number" && found > maximum) wrong(at, `be <= ${maximum}`);
  if (typeof minimum === "number" && found < minimum) wrong(at, `be >= ${minimum}`);
  return found;
}

function fields(schema: Schema, value: unknown, at: string): Record<string, unknown> {
  if (!isObject(value) || Array.isArray(value)) return wrong(at, "be object");
  const { properties = {}, required = [] } = schema;
  const found: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(properties)) {
    const held = value[name] === undefined ? each.default : value[name];
    if (held !== undefined) found[name] = held;
  }
  const missing = required.find((name) => !(name in found));
  if (missing !== undefined) wrong(at, `have required property '${missing}'`);
  for (const [name, held] of Object.entries(found)) found[name] = checked(properties[name]!, held, `${at}/${name}`);
  return found;
}

/** One value is a list of one. */
function list(schema: Schema, given: unknown, at: string): unknown[] {
  if (typeof given === "object" && !Array.isArray(given)) return wrong(at, "be array");
  const value = Array.isArray(given) ? given : [given];
  const { items = {}, minItems, maxItems } = schema;
  if (typeof maxItems === "number" && value.length > maxItems)
    wrong(at, `NOT have more than ${plural(maxItems, "items")}`);
  if (typeof minItems === "number" && value.length < minItems)
    wrong(at, `NOT have fewer than ${plural(minItems, "items")}`);
  return value.map((each, nth) => checked(items, each, `${at}/${nth}`));
}

function truth(_schema: Schema, value: unknown, at: string): boolean {
  if (value === true || value === "true" || value === 1) return true;
  return value === false || value === "false" || value === 0 ? false : wrong(at, "be boolean");
}

const CHECKS: Readonly<Record<string, Check>> = {
  string: text,
  integer: amount,
  number: amount,
  boolean: truth,
  object: fields,
  array: list,
};

/** The value as its route takes it. */
export function checked(schema: Schema, value: unknown, at: string): unknown {
  if (schema.nullable === true && value === null) return null;
  const check = CHECKS[String(schema.type)];
  if (check === undefined) throw new Error(`${at} has a schema that a page cannot check`);
  return check(schema, value, at);
}
