/** The keys of the store, as a list beside the prompt. */
import type { Connection } from "./client.ts";
import type { Reply } from "./resp.ts";
import { textOf } from "./words.ts";

export interface ListedKey {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly type: string;
}

const MOST = 500;
const encoder = new TextEncoder();
const words = (...texts: readonly (string | Uint8Array)[]): Uint8Array[] =>
  texts.map((text) => (typeof text === "string" ? encoder.encode(text) : text));

const textIn = (reply: Reply): string =>
  reply.kind === "string" ? textOf(reply.bytes) : "text" in reply ? reply.text : "";

export async function keysOf(connection: Connection): Promise<ListedKey[]> {
  const reply = await connection.call(words("SCAN", "0", "COUNT", "100000"));
  const names = reply.kind === "array" && reply.items[1]?.kind === "array" ? reply.items[1].items : [];
  const bytes = names.flatMap((name) => (name.kind === "string" ? [name.bytes] : [])).slice(0, MOST);
  const keys = await Promise.all(
    bytes.map(async (name) => {
      const type = textIn(await connection.call(words("TYPE", name)));
      return { name: textOf(name), bytes: name, type };
    }),
  );
  return keys.sort((a, b) => (a.name < b.name ? -1 : 1));
}
