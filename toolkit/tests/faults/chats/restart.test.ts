/** A server that dies under its readers, and comes back with what it has on disk. */
import { describe, expect, onTestFinished, test } from "vitest";
import { ConnectionError } from "../../../src/base/errors.ts";
import { Chats, Mailboxes } from "../../../src/components/chats/index.ts";
import { open } from "../../../src/connection/open.ts";
import { installed, startRedis } from "../../kit/servers.ts";

const LONG = { timeout: 25_000 };

describe.skipIf(!installed("redis-server"))("a server that is killed and comes back", () => {
  test("readers go on where they were, without being told", async () => {
    const server = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
    onTestFinished(() => server.stop());
    // It gives up soon, so that streams see errors and not only long answers.
    const store = await open(server.url, { retryMs: 50, commandTimeoutMs: 2_000 });
    onTestFinished(() => store.close());
    const chats = new Chats<string>(store, { pollMs: 50, presenceLeaseMs: 300 });
    const mailboxes = new Mailboxes<string>(store, { pollMs: 50 });
    await chats.joinMany("team", ["ann", "ben"]);
    const got: string[] = [];
    const mail: string[] = [];
    const readers = [
      (async () => {
        for await (const { body, missed } of chats.messages("team", "ben")) got.push(`${body} ${missed}`);
      })(),
      (async () => {
        for await (const { body } of mailboxes.messages("ben")) mail.push(body);
      })(),
    ];
    const send = async (body: string): Promise<void> => {
      // By its id: an attempt whose answer was lost may have been made.
      const attempt = async (): Promise<boolean> => {
        try {
          await chats.send("team", "ann", body, { id: body });
          await mailboxes.send("ben", "ann", body, { id: body });
          return true;
        } catch (error) {
          if (error instanceof ConnectionError) return false;
          throw error;
        }
      };
      await expect.poll(attempt, LONG).toBe(true);
    };
    await send("1");
    await expect.poll(() => [got, mail], LONG).toEqual([["1 0"], ["1"]]);
    for (const body of ["2", "3"]) {
      await server.kill();
      // All notice: nobody is answered.
      await expect(store.call("PING")).rejects.toThrow(ConnectionError);
      await server.restart();
      await send(body);
      await expect.poll(() => got.at(-1), LONG).toBe(`${body} 0`);
      await expect.poll(() => mail.at(-1), LONG).toBe(body);
    }
    expect([got, mail]).toEqual([
      ["1 0", "2 0", "3 0"],
      ["1", "2", "3"],
    ]);
    await store.close();
    await Promise.all(readers);
  }, 120_000);
});
