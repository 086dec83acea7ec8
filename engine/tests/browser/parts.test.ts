/** Parts of the engine that a browser loads when they are first used: as the very first command, in company, and when that fails. */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Browser, hasBrowser, launch, type Page } from "../../../console/tests/chromium.ts";
import { partNames } from "../../../scripts/generate-part-names.ts";
import { Engine } from "../../src/index.ts";
import { bundle } from "./target.ts";

const COMMANDS: Readonly<Record<string, readonly [command: readonly string[], reply: unknown]>> = {
  bits: [["SETBIT", "bits", "7", "1"], 0],
  geo: [["GEOADD", "geo", "13.4", "52.5", "Berlin"], 1],
  streams: [["XADD", "stream", "1-1", "field", "value"], "1-1"],
  sort: [["SORT", "absent"], []],
  server: [["DUMP", "absent"], null],
  scripts: [["EVAL", "return ARGV[1]", "0", "x"], "x"],
};

describe.skipIf(!hasBrowser)("parts of the engine in a browser", () => {
  let browser: Browser;
  let server: Server;
  let url: string;
  let page: Page;
  /** What the server does not have at the moment. */
  let missing: RegExp | null = null;
  const asked: string[] = [];

  beforeAll(async () => {
    const files = await bundle();
    server = createServer(({ url: path = "" }, response) => {
      asked.push(path);
      const script = files.get(path.replace(/\?.*/, ""));
      if (missing?.test(path)) response.statusCode = 503;
      response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
      response.end(script ?? '<!doctype html><meta charset="utf-8"><title>Cinnabar</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await launch();
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  /** Runs the body of a function on a page that has loaded nothing yet. */
  async function fresh<T>(body: string, given: unknown = null, options = "{}"): Promise<T> {
    await page.goto(url);
    asked.length = 0;
    return more(
      `const { Engine } = await import("/engine.js");
      globalThis.engine = await Engine.open(${options});
      globalThis.client = engine.connect();
      ${body}`,
      given,
    );
  }

  /** The same on the page as it is. */
  const more = <T>(body: string, given: unknown = null): Promise<T> =>
    page.evaluate(`(async (given) => { ${body} })(${JSON.stringify(given)})`) as Promise<T>;

  test("common commands load nothing more", async () => {
    const replies =
      await fresh(`return client.pipeline([["SET", "k", "v"], ["HSET", "h", "f", "v"], ["ZADD", "z", "1", "m"],
      ["LPUSH", "l", "x"], ["SADD", "s", "x"], ["EXPIRE", "k", "9"], ["PUBLISH", "c", "m"], ["DBSIZE"], ["FLUSHALL"]])`);
    expect(replies).toEqual(["OK", 1, 1, 1, 1, 1, 0, 5, "OK"]);
    const first = asked.length;
    expect(await more('return client.call("XLEN", "absent")')).toBe(0);
    expect(asked.length).toBeGreaterThan(first);
  });

  describe.each(Object.entries(COMMANDS))("%s", (part, [command, reply]) => {
    test("is loaded for the very first command", async () => {
      expect(await fresh("return client.call(...given)", command)).toEqual(reply);
    });

    test("is loaded in a transaction, whose commands stay in order", async () => {
      const replies = await fresh(
        'return client.transaction([["SET", "k", "v"], given, ["APPEND", "k", "w"], ["GET", "k"]])',
        command,
      );
      expect(replies).toEqual(["OK", reply, 2, "vw"]);
    });

    test("is loaded in a pipeline, and for two clients at once", async () => {
      const all = await fresh<unknown[]>(
        `const other = engine.connect();
        const mine = client.pipeline([["SET", "k", "v"], given, ["APPEND", "k", "w"], ["GET", "k"]]);
        const theirs = Promise.all([other.call(...given).catch(String), other.call("PING")]);
        return [await mine, (await theirs)[1]]`,
        command,
      );
      // What is added a second time is answered otherwise: the first was this client's.
      expect(all).toEqual([["OK", reply, 2, "vw"], "PONG"]);
    });

    test.runIf(part !== "scripts")("is there for a script that is the first command", async () => {
      const script = ["EVAL", "return {redis.call(unpack(ARGV))}", "0", ...command];
      expect(await fresh("return client.call(...given)", script)).toEqual(reply === null ? [null] : [reply]);
    });

    test("can be loaded before, for calls that do not wait", async () => {
      const call = "try { return client.callSync(...given) } catch (error) { return error.message }";
      expect(await fresh(call, command)).toContain(`is in the part "${part}" of the engine, which has not been loaded`);
      expect(await fresh(call, command, JSON.stringify({ parts: [part] }))).toEqual(reply);
    });
  });

  test("a part that cannot be loaded is an error of the command, and the next call tries again", async () => {
    missing = /parts\/streams/;
    const told = "error => error.message";
    const failed = await fresh<string[]>(`return Promise.all([
      client.call("XADD", "s", "1-1", "f", "v").catch(${told}),
      client.call("SET", "k", "v"),
      engine.connect().transaction([["SET", "k", "w"], ["XLEN", "s"]]).catch(${told})])`);
    expect(failed[0]).toMatch(/^ERR 'xadd' cannot run: the part 'streams' of the engine could not be loaded \(/);
    expect(failed[1]).toBe("OK");
    expect(failed[2]).toContain("could not be loaded");
    expect(await more('return client.call("GET", "k")')).toBe("v");
    missing = null;
    expect(await more('return client.call("XADD", "s", "1-1", "f", "v")')).toBe("1-1");
  });

  test("who has the other end of a port is served as well", async () => {
    const reply = await fresh(`
      const { port1, port2 } = new MessageChannel();
      engine.serve(port1);
      const latin1 = new TextDecoder("latin1");
      let text = "";
      const whole = new Promise((resolve) => {
        port2.onmessage = ({ data }) => {
          text += latin1.decode(data);
          if (text.endsWith("+PONG\\r\\n")) resolve(text);
        };
      });
      port2.postMessage(new TextEncoder().encode("XLEN s\\r\\nSETBIT b 1 1\\r\\nGEOHASH g m\\r\\nEVAL 'return 7' 0\\r\\nPING\\r\\n"));
      return whole`);
    expect(reply).toBe(":0\r\n:0\r\n*1\r\n$-1\r\n:7\r\n+PONG\r\n");
  });

  test("what was known before a part came is true afterwards", async () => {
    const [id, info, user, heard] = await fresh<[string, string, string | null, number]>(`
      const { id } = engine.replication;
      await client.call("SET", "k", "v");
      const other = engine.connect();
      const heard = [];
      await other.subscribe("news", (message) => heard.push(message));
      const info = await client.call("INFO");
      const user = await client.call("ACL", "WHOAMI");
      await client.call("PUBLISH", "news", "x");
      return [id, info, user, heard.length]`);
    expect(info).toContain(`master_replid:${id}`);
    expect(info).toContain("db0:keys=1");
    expect(user).toBeNull();
    expect(heard).toBe(1);
  });

  test("COMMAND DOCS and COMMAND say what they say in Node", async () => {
    const engine = await Engine.open();
    const byName = (flat: unknown) => {
      const entries = flat as unknown[];
      return new Map(entries.flatMap((entry, at) => (at % 2 === 0 ? [[entry, entries[at + 1]] as const] : [])));
    };
    const client = engine.connect();
    expect(byName(await fresh('return client.call("COMMAND", "DOCS")'))).toEqual(
      byName(await client.call("COMMAND", "DOCS")),
    );
    const inOrder = (rows: unknown) => (rows as [string][]).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(inOrder(await more('return client.call("COMMAND")'))).toEqual(inOrder(await client.call("COMMAND")));
    await engine.close();
  });
});

test("every command is in the first load or in one part, as core/parts/commands.browser.ts has it", async () => {
  const file = new URL("../../src/core/parts/commands.browser.ts", import.meta.url);
  expect(readFileSync(file, "utf8")).toBe(await partNames());
});
