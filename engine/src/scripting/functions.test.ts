/** Libraries of functions: what files and replicas see of them, and what a library cannot do. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";
import type { LocalClient } from "../embed/local-client.ts";

let engine: EmbeddedEngine;
let client: LocalClient;
let batches: string[][][];

beforeEach(async () => {
  engine = await EmbeddedEngine.open();
  client = engine.connect();
  batches = [];
  engine.core.effects.listen((batch) => void batches.push(batch.map(({ argv }) => [...argv])));
});

afterEach(() => engine.close());

const COUNTER = `#!lua name=counter
redis.register_function('twice', function(keys, args)
  redis.call('INCR', keys[1])
  redis.call('EXPIRE', keys[1], 0)
  redis.call('GET', keys[1])
  return redis.call('INCRBY', keys[1], args[1])
end)
redis.register_function{function_name='read', callback=function(keys) return redis.call('GET', keys[1]) end}`;

test("changes to libraries are handed on as they came, refused ones not at all", async () => {
  await client.call("FUNCTION", "LOAD", COUNTER);
  await client.call("FUNCTION", "LOAD", "REPLACE", COUNTER);
  await expect(client.call("FUNCTION", "LOAD", COUNTER)).rejects.toThrow("already exists");
  const dump = engine.core.functions.sources();
  await client.call("FUNCTION", "DELETE", "counter");
  await expect(client.call("FUNCTION", "DELETE", "counter")).rejects.toThrow("Library not found");
  await client.call("FUNCTION", "FLUSH", "ASYNC");
  await client.call("FUNCTION", "LIST");
  expect(dump).toEqual([COUNTER]);
  expect(batches).toEqual([
    [["FUNCTION", "LOAD", COUNTER]],
    [["FUNCTION", "LOAD", "REPLACE", COUNTER]],
    [["FUNCTION", "DELETE", "counter"]],
    [["FUNCTION", "FLUSH", "ASYNC"]],
  ]);
});

test("a call is handed on as what it did, all at once", async () => {
  await client.call("FUNCTION", "LOAD", COUNTER);
  batches.length = 0;
  expect(await client.call("FCALL", "twice", "1", "k", "5")).toBe(5);
  expect(await client.call("FCALL", "read", "1", "k")).toBe("5");
  expect(batches).toEqual([
    [
      ["INCR", "k"],
      ["DEL", "k"],
      ["INCRBY", "k", "5"],
    ],
  ]);
});

test("sources go into another engine", async () => {
  await client.call("FUNCTION", "LOAD", COUNTER);
  const other = await EmbeddedEngine.open();
  for (const source of engine.core.functions.sources()) other.core.functions.loadSource(source);
  expect(await other.connect().call("FCALL", "twice", "1", "k", "7")).toBe(7);
  await other.close();
});

test("a function's tables and errors do not leak into the next call", async () => {
  await client.call(
    "FUNCTION",
    "LOAD",
    `#!lua name=lib
     redis.register_function('f', function(keys, args) keys.extra = (keys.extra or 0) + 1 return keys.extra end)
     redis.register_function('resp', function() redis.setresp(3) error('x') end)
     redis.register_function('hash', function(keys) return redis.call('HGETALL', keys[1]) end)`,
  );
  await client.call("HSET", "h", "a", "1");
  expect([await client.call("FCALL", "f", "0"), await client.call("FCALL", "f", "0")]).toEqual([1, 1]);
  await expect(client.call("FCALL", "resp", "0")).rejects.toThrow("user_function:3: x");
  expect(await client.call("FCALL", "hash", "1", "h")).toEqual(["a", "1"]);
});

test("names that JavaScript's objects have are nothing special", async () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    await expect(client.call("FCALL", name, "0")).rejects.toThrow("Function not found");
    const source = `#!lua name=${name}\nredis.register_function('${name}', function() return '${name}' end)`;
    expect(await client.call("FUNCTION", "LOAD", source)).toBe(name);
    expect(await client.call("FCALL", name, "0")).toBe(name);
    const flagged = `#!lua name=lib\nredis.register_function{function_name='f', callback=function() end, flags={'${name}'}}`;
    await expect(client.call("FUNCTION", "LOAD", flagged)).rejects.toThrow("unknown flag given");
  }
});
