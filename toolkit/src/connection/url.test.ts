/** Every form of URL, what is wrong with the others, and that no message tells a password. */
import { describe, expect, test } from "vitest";
import { InputError } from "../base/errors.ts";
import { open } from "./open.ts";
import { formatUrl, parseUrl } from "./url.ts";

const at = (host: string, port: number) => ({ host, port });

describe("URLs", () => {
  test.each([
    ["redis://localhost", { kind: "single", tls: false, endpoints: [at("localhost", 6379)], db: 0 }],
    ["redis://", { kind: "single", endpoints: [at("localhost", 6379)], db: 0 }],
    ["redis:///4", { kind: "single", endpoints: [at("localhost", 6379)], db: 4 }],
    ["REDIS://h:1?db=2", { kind: "single", endpoints: [at("h", 1)], db: 2 }],
    ["redis://u:p@h:7000/3", { username: "u", password: "p", endpoints: [at("h", 7000)], db: 3 }],
    ["redis://:p%40%2F%3A@h", { username: undefined, password: "p@/:" }],
    ["redis://u:p@ss@h", { username: "u", password: "p@ss", endpoints: [at("h", 6379)] }],
    ["rediss://h", { kind: "single", tls: true }],
    ["valkey://h", { kind: "single", tls: false }],
    ["valkeys://h", { kind: "single", tls: true }],
    ["redis://[::1]:7000", { endpoints: [at("::1", 7000)] }],
    ["unix:///run/redis.sock", { kind: "single", endpoints: [{ path: "/run/redis.sock" }], db: 0 }],
    [
      "redis+unix://u:p@/run/my%20redis.sock?db=2",
      { endpoints: [{ path: "/run/my redis.sock" }], db: 2, password: "p" },
    ],
    [
      "redis+sentinel://u:p@h1,h2:5000,[::1]/main/2?sentinelPassword=s%26t&sentinelUsername=w",
      {
        kind: "sentinel",
        endpoints: [at("h1", 26379), at("h2", 5000), at("::1", 26379)],
        name: "main",
        db: 2,
        username: "u",
        password: "p",
        sentinel: { username: "w", password: "s&t" },
      },
    ],
    ["rediss+sentinel://h/main", { kind: "sentinel", tls: true, db: 0 }],
    ["redis-sentinel://h/main", { kind: "sentinel" }],
    ["redis+cluster://h1,h2:7001,h3", { kind: "cluster", endpoints: [at("h1", 6379), at("h2", 7001), at("h3", 6379)] }],
    ["valkey+cluster://u:p@h/0", { kind: "cluster", username: "u", db: 0 }],
    ["rediss+cluster://h", { kind: "cluster", tls: true }],
  ])("%s is understood", (url, expected) => {
    expect(parseUrl(url)).toMatchObject(expected);
  });

  test.each([
    ["http://h", "does not know"],
    ["mysql://u:sekret@h", "does not know"],
    ["redis+magic://u:sekret@h", "does not know"],
    ["redis://u:sekret@h1,h2", "one host"],
    ["redis://u:sekret@h:99999", "no host with a port"],
    ["redis://u:sekret@h:port", "no host with a port"],
    ["redis://u:sekret@h/one", "no number of a database"],
    ["redis://u:sekret@h/-1", "no number of a database"],
    ["redis://u:sekret@h/0?tls=yes", 'not "tls"'],
    ["redis://justauser@h", "without a password"],
    ["redis://u:%zzsekret@h", "percent-encoded"],
    ["unix://", "whole path"],
    ["unix://relative/path", "whole path"],
    ["redis+sentinel://u:sekret@h1,h2", "primary's name"],
    ["redis+sentinel://h/a/0/more", "primary's name"],
    ["redis+cluster://u:sekret@h/1", "only database 0"],
  ])("%s is refused, and why", async (url, why) => {
    const error = await open(url).catch((caught) => caught);
    expect(error).toBeInstanceOf(InputError);
    expect(error.message).toContain(why);
    expect(String(error.stack)).not.toContain("sekret");
  });

  test.each([
    "redis://us%40er:p%2Fw@h:7000/3",
    "rediss+cluster://:p@h1:6379,h2:7001/0",
    "redis+sentinel://h1:26379,[::1]:5000/ma%2Fin/2?sentinelUsername=w&sentinelPassword=s%26t",
    "unix://u:p@/run/my%20redis.sock?db=2",
  ])("%s is written as it was read", (url) => {
    expect(formatUrl(parseUrl(url))).toBe(url);
  });

  test("what is neither a URL nor a folder is refused", async () => {
    await expect(open("localhost:6379")).rejects.toThrow("redis://localhost:6379");
    await expect(open("")).rejects.toThrow("empty");
    await expect(open({})).rejects.toThrow("none of them");
    await expect(open("redis://h", { config: { maxmemory: "1mb" } })).rejects.toThrow("config is for the store");
    await expect(open("redis://h", { commandTimeoutMs: 0 })).rejects.toThrow("commandTimeoutMs");
  });
});
