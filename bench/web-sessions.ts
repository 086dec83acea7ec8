/**
 * Sessions against connect-redis: its store beside ours for express-session, each called as express-session does, and what a
 * request of a site needs in the ways of both. connect-redis reads with one call and lets the session live on with another;
 * ours reads with one, which lets it live on once a minute and may note what is viewed, and changes a piece where connect-redis
 * writes the whole document.
 */
import { open, type Store } from "cinnabar";
import { type ExpressSessionStore, expressSessionStore } from "cinnabar/express-session";
import { Sessions } from "cinnabar/sessions";
import { RedisStore } from "connect-redis";
import expressSession from "express-session";
import { createClient } from "redis";
import type { Cases, Op } from "./web.ts";

const SESSIONS = 1_000;

const document = (nth: number) => ({
  cookie: { originalMaxAge: 86_400_000, expires: new Date(Date.now() + 86_400_000), httpOnly: true, path: "/" },
  user: `user-${nth}`,
  theme: "dark",
  visited: ["/", "/catalogue", `/catalogue/item/${nth}`, "/basket"],
  address: { street: "Long Street 17", city: "Old Town", country: "NL" },
});

/** Both kinds of store, by the callbacks that express-session uses. */
function called(store: ExpressSessionStore): Record<"get" | "set" | "touch", Op> {
  const sid = (nth: number): string => `session-${nth % SESSIONS}`;
  const settled = (call: (callback: (error?: unknown) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => call((error) => (error == null ? resolve() : reject(error))));
  return {
    get: (nth) => settled((callback) => store.get(sid(nth), callback)),
    set: (nth) => settled((callback) => store.set(sid(nth), document(nth), callback)),
    touch: (nth) => settled((callback) => store.touch(sid(nth), document(nth), callback)),
  };
}

async function ours(store: Store): Promise<Record<"load" | "view" | "update" | "get" | "set" | "touch", Op>> {
  const sessions = new Sessions(store);
  const tokens: string[] = [];
  for (let nth = 0; nth < SESSIONS; nth++) {
    const { cookie: _, user, ...data } = document(nth);
    tokens.push((await sessions.create({ user, data })).token);
  }
  const express = called(new (expressSessionStore(expressSession.Store))(store));
  for (let nth = 0; nth < SESSIONS; nth++) await express.set(nth);
  const token = (nth: number): string => tokens[nth % SESSIONS]!;
  return {
    ...express,
    load: (nth) => sessions.load(token(nth)),
    view: (nth) => sessions.load(token(nth), { viewed: `item ${nth % 50}` }),
    update: (nth) => sessions.update(token(nth), { theme: nth % 2 === 0 ? "dark" : "light" }),
  };
}

export async function sessionCases(port: number): Promise<Cases> {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  await client.connect();
  const [remote, inProcess] = [await open(`redis://127.0.0.1:${port}`), await open()];
  const [redis, embedded] = [await ours(remote), await ours(inProcess)];
  const theirs = called(new RedisStore({ client }) as unknown as ExpressSessionStore);
  for (let nth = 0; nth < SESSIONS; nth++) await theirs.set(nth);
  const against = "connect-redis 9";
  const request: Op = async (nth) => {
    await theirs.get(nth);
    await theirs.touch(nth);
  };
  const same = (name: "get" | "set" | "touch", inFlight: number) => ({
    test: `express-session store, ${name}`,
    inFlight,
    ours: redis[name],
    embedded: embedded[name],
    others: { [against]: theirs[name] },
  });
  const own = (test: string, name: "load" | "view" | "update", other: Op, inFlight: number) => ({
    test,
    inFlight,
    ours: redis[name],
    embedded: embedded[name],
    others: { [against]: other },
  });
  return {
    cases: [
      same("get", 1),
      same("get", 50),
      same("set", 50),
      same("touch", 50),
      own("a request reads its session and keeps it alive (Sessions.load)", "load", request, 1),
      own("a request reads its session and keeps it alive (Sessions.load)", "load", request, 50),
      own("the same, and what it looks at is noted (Sessions.load, viewed)", "view", request, 50),
      own("a request changes its session (Sessions.update)", "update", theirs.set, 50),
    ],
    close: async () => {
      await client.close();
      await remote.close();
      await inProcess.close();
    },
  };
}
