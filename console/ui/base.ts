/**
 * Where this page's API is. The page may stand below a path of another application, so every address is built from its own. Which
 * connection and database are shown stands in the address too (`?connection=staging&db=3`), and goes into the path of each request.
 */
const BASE = new URL(".", document.baseURI).pathname.replace(/\/$/, "");

export interface Target {
  /** Undefined: the first one. */
  readonly connection: string | undefined;
  readonly db: number;
}

function readTarget(): Target {
  const query = new URLSearchParams(location.search);
  const db = query.get("db") ?? "";
  return { connection: query.get("connection") ?? undefined, db: /^\d{1,5}$/.test(db) ? Number(db) : 0 };
}

/** Fixed while the page lives: another connection is another page. */
export const TARGET: Target = readTarget();

/** Whether the page stands inside another one, which has its own menu. */
export const IS_EMBEDDED = new URLSearchParams(location.search).has("embed");

const PREFIX =
  TARGET.connection === undefined && TARGET.db === 0
    ? ""
    : `@${encodeURIComponent(TARGET.connection ?? "")}:${TARGET.db}/`;

/** The address of `/api/…`, for the connection and database that are shown. */
export const endpoint = (path: string): string => BASE + path.replace(/^\/api\//, `/api/${PREFIX}`);

/** The address of a page of this console that shows another connection or database. */
export function addressOf({ connection, db }: Target, hash: string): string {
  const query = new URLSearchParams();
  if (connection !== undefined) query.set("connection", connection);
  if (db !== 0) query.set("db", String(db));
  if (IS_EMBEDDED) query.set("embed", "");
  const words = query.toString();
  return `${BASE}/${words === "" ? "" : `?${words}`}${hash}`;
}
