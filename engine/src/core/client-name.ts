/** The name that a client gives itself, and its like: words that CLIENT LIST can show in a line without quotes. */
import type { Client } from "./client.ts";
import { BAD_CLIENT_NAME } from "./errors.ts";

/** Whether every byte is printable and no space. */
export function isPlainWord(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}

/** Names a client; the empty name takes its name away. */
export function setClientName(client: Client, name: string): void {
  if (!isPlainWord(name)) throw BAD_CLIENT_NAME;
  client.name = name;
}
