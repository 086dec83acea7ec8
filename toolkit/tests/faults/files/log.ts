/** The access logs of the crash test: made the same by every process that asks, so that a sender can begin again. */
import { gzipSync } from "node:zlib";

export const CHANNEL = { blockBytes: 2_048, budgetBytes: 20_000, commitBytes: 3_000, pollMs: 50 } as const;
export const RANGES = ["2.16.0.0,2.16.255.255,IT\n", "2.17.0.0/16,FR\n", "2.18.0.0/17,AT\n"];
export const FILES = ["web1.log", "web2.log.gz", "web3.log.gz"];

export interface Order {
  readonly role: "send" | "read";
  readonly url: string;
}

/** Lines of a log: different ones for each file. */
export function linesOf(name: string): string[] {
  let state = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 2_147_483_647;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  return Array.from({ length: 4_000 }, () => {
    const address = `2.${16 + random(3)}.${random(256)}.${random(256)}`;
    return `${address} - - [${10 + random(5)}/Nov/2026:10:00:00] "GET /${random(1_000)} HTTP/1.1" 200 ${random(9_999)}`;
  });
}

export function bytesOf(name: string): Buffer {
  const text = `${linesOf(name).join("\n")}\n`;
  return name.endsWith(".gz") ? gzipSync(text) : Buffer.from(text);
}

/** A visit's address and day. */
export function visitIn(text: string): { readonly address: string; readonly day: string } {
  const [, address = "", day = ""] = /^(\S+) .*?\[([^:]+):/.exec(text) ?? [];
  return { address, day };
}
