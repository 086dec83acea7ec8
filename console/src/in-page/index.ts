/**
 * The API of the key browser without a server, for a store that is in a page: the playground of the documentation.
 *
 * A route is a value (route.ts), and those of keys need a store and nothing else. So the handlers that the server has answer here,
 * too: what was asked is held against the route's schema (checked.ts), and errors become the same documents (problem.ts). The
 * page's side is `answerBy` of ui/api.ts: the views of the console ask as ever, and do not know who answers.
 *
 * What the handlers use of Node has stand-ins: files `x.browser.ts`, and node/ for modules; tsconfig.browser.json compiles it so.
 * Files, which are streams of Node's, are left out: export, import, and the report of an analysis.
 */
import type { Store } from "cinnabar";
import type { User } from "../access/user.ts";
import { BULK_ROUTES } from "../operate/bulk.ts";
import { EDIT_ROUTES } from "../operate/edit.ts";
import { KEY_ROUTES } from "../operate/keys.ts";
import { SURVEY_ROUTES } from "../operate/survey.ts";
import { UNDO_ROUTES } from "../operate/undo.ts";
import { VALUE_ROUTES } from "../operate/value.ts";
import { documentOf, problemOf } from "../problem.ts";
import { type Context, type Input, Problem, type Route } from "../route.ts";
import { errorOf } from "../values.ts";
import { observerOf, stopWork } from "../work.ts";
import { checked } from "./checked.ts";
import type { Answered, Asked } from "./messages.ts";

export const IN_PAGE_ROUTES: readonly Route[] = [
  ...KEY_ROUTES,
  ...EDIT_ROUTES,
  ...VALUE_ROUTES,
  ...SURVEY_ROUTES,
  ...BULK_ROUTES,
  ...UNDO_ROUTES,
].filter(({ media }) => media === undefined);

/** The reader of the page owns the store. */
const READER: User = { name: "reader", role: "admin" };

interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The most literal address first, as Fastify has it: `/api/keys/bulk` is no `/api/keys/:id`. */
function matchOf(method: string, path: string): Match {
  for (const route of IN_PAGE_ROUTES) {
    if (route.method !== method) continue;
    const pattern = route.url.replace(/:(\w+)/g, "(?<$1>[^/]+)");
    const found = new RegExp(`^${pattern}$`).exec(path);
    if (found === null) continue;
    const params = Object.entries(found.groups ?? {}).map(([name, text]): [string, string] => [
      name,
      decodeURIComponent(text),
    ]);
    return { route, params: Object.fromEntries(params) };
  }
  throw new Problem(404, "NOT_FOUND", "there is nothing here");
}

export class InPage {
  readonly #open: (db: number) => Promise<Store>;
  readonly #stores = new Map<number, Promise<{ readonly store: Store; readonly observing: Store }>>();

  /** `open` opens a database of the page's store, when it is first asked about. */
  constructor(open: (db: number) => Promise<Store>) {
    this.#open = open;
  }

  async answer({ id, method, path, body, db }: Asked): Promise<Answered> {
    try {
      const found = await this.#run(method, path, body === null ? undefined : JSON.parse(body), db);
      return { id, status: 200, body: JSON.stringify(found ?? { ok: true }) };
    } catch (error) {
      const problem = problemOf(errorOf(error));
      return { id, status: problem.status, body: JSON.stringify(documentOf(problem)) };
    }
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#stores.values());
    this.#stores.clear();
    for (const each of opened) {
      if (each.status === "rejected") continue;
      await stopWork(each.value.store);
      await each.value.store.close();
    }
  }

  async #run(method: string, address: string, body: unknown, db: number): Promise<unknown> {
    const { pathname, searchParams } = new URL(address, "http://page");
    const { route, params } = matchOf(method, pathname);
    const input: Input<unknown, unknown, unknown> = {
      query: route.query && checked(route.query, Object.fromEntries(searchParams), "querystring"),
      body: route.body && checked(route.body, body, "body"),
      params: route.params && checked(route.params, params, "params"),
      get request(): never {
        throw new Error("a page has no request of a server");
      },
      get reply(): never {
        throw new Error("a page has no reply of a server");
      },
    };
    const { store, observing } = await this.#storeOf(db);
    const context: Context = {
      // What reads leaves no trace, as on a server.
      store: method === "GET" || route.reads ? observing : store,
      backend: "this page",
      user: READER,
      get live(): never {
        throw new Error("a page has no live figures");
      },
    };
    return route.run(context, input);
  }

  #storeOf(db: number) {
    let opened = this.#stores.get(db);
    if (opened === undefined) {
      opened = this.#open(db).then((store) => ({ store, observing: observerOf(store) }));
      this.#stores.set(db, opened);
      opened.catch(() => this.#stores.delete(db));
    }
    return opened;
  }
}
